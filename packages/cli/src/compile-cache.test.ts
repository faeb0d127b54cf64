/** Where compiled code is kept. */
import { expect, it } from 'vitest'
import { cacheCompiled } from './compile-cache.js'

function placeFor(env: Readonly<Record<string, string>>): string[] {
  const places: string[] = []
  cacheCompiled(env, (directory) => places.push(directory))
  return places
}

it('keeps compiled code among the caches of the user', () => {
  expect(placeFor({ HOME: '/users/ann' })).toEqual(['/users/ann/.cache/reprise/compiled'])
  expect(placeFor({ HOME: '/users/ann', XDG_CACHE_HOME: '/caches' })).toEqual(['/caches/reprise/compiled'])
})

it('takes no relative path for a place of caches', () => {
  expect(placeFor({ HOME: '/users/ann', XDG_CACHE_HOME: 'here' })).toEqual(['/users/ann/.cache/reprise/compiled'])
})

it('keeps nothing where there is no home, or where another place was chosen', () => {
  expect(placeFor({})).toEqual([])
  expect(placeFor({ HOME: '', XDG_CACHE_HOME: '' })).toEqual([])
  expect(placeFor({ HOME: '/users/ann', NODE_COMPILE_CACHE: '/elsewhere' })).toEqual([])
})
