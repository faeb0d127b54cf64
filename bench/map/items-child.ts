/** `items-child.js WAY DIRECTORY COUNT WIDTH`: works on items after a warm-up and prints what it took as JSON. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { WAYS, workItems } from './items.js'

const [name, directory = '', count = '1000', width = '64'] = process.argv.slice(2)
const way = WAYS.find((one) => one === name)
if (way === undefined) throw new Error(`No such way: ${name}. Ways: ${WAYS.join(', ')}`)
const [warm, measured] = ['warm', 'measured'].map((part) => path.join(directory, part)) as [string, string]
for (const part of [warm, measured]) mkdirSync(part, { recursive: true })
await workItems(way, warm, 500, Number(width))
console.log(JSON.stringify(await workItems(way, measured, Number(count), Number(width))))
