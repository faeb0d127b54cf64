/**
 * Routes that every server of ours has, whatever it serves: whether it lives, metrics, and the description of its API. Pure.
 * Imports types of the routes.
 */
import type { Route } from '@reprise/jobs/internal'

export type ServerOperationName = 'health' | 'readiness' | 'metrics' | 'describeApi'

const TEXT = { type: 'string' } as const

export const SERVER_ROUTES: readonly Route<ServerOperationName>[] = [
  {
    method: 'GET',
    path: '/healthz',
    operation: 'health',
    summary: 'whether the process answers',
    access: 'open',
    type: 'text/plain',
    answer: TEXT,
  },
  {
    method: 'GET',
    path: '/readyz',
    operation: 'readiness',
    summary: 'whether it can serve: its store answers, and it is not stopping',
    access: 'open',
    type: 'text/plain',
    answer: TEXT,
    absent: { kind: 'not_ready', title: 'Not ready' },
  },
  {
    method: 'GET',
    path: '/metrics',
    operation: 'metrics',
    summary: 'the metrics of the store for Prometheus',
    access: 'view',
    type: 'text/plain',
    answer: TEXT,
  },
  {
    method: 'GET',
    path: '/api/openapi.json',
    operation: 'describeApi',
    summary: 'this API as OpenAPI 3.1',
    access: 'view',
    answer: { type: 'object' },
  },
]
