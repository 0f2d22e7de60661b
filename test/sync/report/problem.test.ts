import { expect, it } from 'vitest';
import { SecretError } from '../../../src/api/secrets/read.ts';
import { GitHostError } from '../../../src/sync/report/git-host.ts';
import { gitHostProblem } from '../../../src/sync/report/problem.ts';

it('S26 leaves to a person what only a person can solve', () => {
  const [secret, host] = [new SecretError('no Secret'), new GitHostError('no host')].map(gitHostProblem);
  expect(secret).toEqual({ status: 'False', reason: 'SecretInvalid', message: 'no Secret' });
  expect(host).toEqual({ status: 'False', reason: 'GitHostUnknown', message: 'no host' });
  expect(gitHostProblem(new Error('no answer'))).toBeUndefined();
});
