/** The answer of a balancer about its health: which API servers it finds ready. */
import { listAt, parseRecord } from '../../../kube/objects/json.ts';
import type { Backend } from './backends.ts';

export function formatHealth(backends: readonly Backend[]): string {
  const ready = backends.filter(({ isReady }) => isReady).map(({ port }) => port);
  return `${JSON.stringify({ ready })}\n`;
}

/** Returns the ports of the API servers that a balancer finds ready. Undefined: a balancer of an earlier version does not tell. */
export function readyPortsIn(body: string): readonly number[] | undefined {
  const found = parseRecord(body);
  return found && listAt(found, 'ready').map(Number);
}
