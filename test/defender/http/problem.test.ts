import { describe, expect, it } from 'vitest';
import { HttpProblem, problemAnswer } from '../../../src/defender/http/problem.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';

describe('problemAnswer', () => {
  it.each([
    [
      new HttpProblem('NotLeader', 'r-2 leads', { leader: 'r-2', retryAfterSeconds: 0.2 }),
      {
        status: 503,
        body: { reason: 'NotLeader', message: 'r-2 leads', leader: 'r-2' },
        headers: { 'retry-after': '1' },
      },
    ],
    [
      new HttpProblem('Unauthorized', 'send a token'),
      {
        status: 401,
        body: { reason: 'Unauthorized', message: 'send a token' },
        headers: { 'www-authenticate': 'Bearer' },
      },
    ],
    [
      new KubeError('Forbidden', 'user kubenode-defender at https://10.0.0.1 may not'),
      {
        status: 503,
        body: { reason: 'ServerUnavailable', message: 'the API server did not answer: nothing was decided' },
        headers: { 'retry-after': '5' },
      },
    ],
    [
      new TypeError('x of undefined'),
      {
        status: 500,
        body: { reason: 'InternalError', message: 'internal error: nothing was decided' },
        headers: {},
      },
    ],
  ])('answers %s without what failed inside', (error, expected) => {
    expect(problemAnswer(error)).toEqual(expected);
  });
});
