/** The answers that all webhooks have in common. */
import type { HookAnswer } from './request.ts';

export const NOT_POST: HookAnswer = {
  status: 405,
  text: 'only POST is allowed',
  headers: { allow: 'POST' },
  result: 'Invalid',
};

/** Makes the sender deliver the request again. */
export function unavailableAnswer(text: string): HookAnswer {
  return { status: 503, text, headers: { 'retry-after': '30' }, result: 'Unavailable' };
}

export function tooLargeAnswer(limit: string): HookAnswer {
  return { status: 413, text: `the body is incomplete, or larger than ${limit}`, result: 'Invalid' };
}

export function unauthorizedAnswer(text: string): HookAnswer {
  return { status: 401, text, result: 'Refused' };
}

export function notFoundAnswer(expected: string): HookAnswer {
  return { status: 404, text: `not found: expected ${expected}`, result: 'Unknown' };
}
