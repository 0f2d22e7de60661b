import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { createDeadline } from '../../../src/kube/transport/deadline.ts';

describe('createDeadline', () => {
  it('explains a time limit, which extend restarts', async () => {
    const deadline = createDeadline(undefined, 60, 'waiting for the answer');
    await sleep(40);
    deadline.extend();
    await sleep(40);
    expect(deadline.signal.aborted).toBe(false);
    await sleep(60);
    expect(deadline.signal.aborted).toBe(true);
    expect(deadline.explain(new Error('aborted'))).toMatchObject({
      code: 'Timeout',
      message: 'waiting for the answer: nothing arrived within 0.06 s',
    });
    deadline.clear();
  });

  it("explains an abort of the caller's signal, even one before the start", () => {
    const deadline = createDeadline(AbortSignal.abort(new Error('enough')), 1000, 'waiting');
    expect(deadline.signal.aborted).toBe(true);
    expect(deadline.explain(new Error('aborted'))).toMatchObject({
      code: 'Aborted',
      message: 'the call was aborted',
      cause: new Error('enough'),
    });
    deadline.clear();
  });

  it('explains network errors, and returns a KubeError unchanged', () => {
    const deadline = createDeadline(undefined, 1000, 'waiting');
    const reset = Object.assign(new Error('x'), { code: 'ECONNRESET' });
    expect(deadline.explain(reset).message).toBe('the connection was reset');
    expect(deadline.explain(reset, true).message).toBe('the answer was cut off in the middle');
    const known = new KubeError('BadAnswer', 'y');
    expect(deadline.explain(known)).toBe(known);
    deadline.clear();
  });
});

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
