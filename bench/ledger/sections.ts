/** A page of results: a heading and a table for each thing that was measured. Imports Node. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

export function textOf(sections: ReadonlyMap<string, string>): string {
  return [...sections].map(([title, text]) => `## ${title}\n\n${text}`).join('\n\n')
}

/** What was not measured this time stays. */
export function keepSections(file: string, script: string, said: string, sections: ReadonlyMap<string, string>): void {
  const old = existsSync(file) ? readFileSync(file, 'utf8').split(/^## /m).slice(1) : []
  const kept = old.map((section) => {
    const [title = ''] = section.split('\n', 1)
    return [title, section.slice(title.length).trim()] as const
  })
  const head = `# Results\n\nWritten by \`npm run ${script} -- --write\`. How to read it: [README.md](README.md).`
  writeFileSync(file, `${head}\n\n${said}\n\n${textOf(new Map([...kept, ...sections]))}\n`)
}
