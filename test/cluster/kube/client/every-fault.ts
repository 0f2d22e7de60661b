/** All faults of the proxy: for any request, for lists, and for watches. */
import {
  answer,
  delay,
  drop,
  emptyBody,
  emptyList,
  hang,
  replay,
  reset,
  truncate,
  truncateQuietly,
} from '../../../support/fault-proxy/faults.ts';
import type { Fault } from '../../../support/fault-proxy/proxied-request.ts';
import { closeWatch, freezeWatch, tearWatch, watchError } from '../../../support/fault-proxy/watch-faults.ts';

export type NamedFault = readonly [name: string, fault: () => Fault];

export const EVERY_FAULT: readonly NamedFault[] = [
  ['drop before', () => drop('before')],
  ['drop after', () => drop('after')],
  ['reset before', () => reset('before')],
  ['reset after', () => reset('after')],
  ['delay', () => delay(300)],
  ['401', () => answer(401)],
  ['403', () => answer(403)],
  ['404', () => answer(404)],
  ['409', () => answer(409)],
  ['422', () => answer(422)],
  ['429', () => answer(429, { retryAfterSeconds: 1 })],
  ['500', () => answer(500)],
  ['503', () => answer(503)],
  ['410', () => answer(410)],
  ['truncated', () => truncate()],
  ['truncated quietly', () => truncateQuietly()],
  ['an empty body', () => emptyBody()],
  ['silence', () => hang('before')],
];

export const EVERY_LIST_FAULT: readonly NamedFault[] = [
  ...EVERY_FAULT,
  ['an empty list', () => emptyList()],
  ['an old list', () => replay()],
];

export const EVERY_WATCH_FAULT: readonly NamedFault[] = [
  ...EVERY_FAULT.filter(([name]) => !/truncated|empty|silence/.test(name)),
  ['closed at once', () => closeWatch()],
  ['closed after an event', () => closeWatch(1)],
  ['frozen', () => freezeWatch()],
  ['frozen after an event', () => freezeWatch(1)],
  ['torn', () => tearWatch()],
  ['torn after an event', () => tearWatch(1)],
  ['ERROR 410', () => watchError(410)],
  ['ERROR 410 after an event', () => watchError(410, 1)],
  ['ERROR 500', () => watchError(500)],
];
