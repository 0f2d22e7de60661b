import { describe, expect, it } from 'vitest';
import { type Selection, verifyMissing } from '../../../src/kube/cache/verify-missing.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSmallServer, type SmallServer, THINGS } from '../../support/kube/small-server.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('verifyMissing', () => {
  it('accepts objects that were deleted or recreated', async () => {
    const server = createSmallServer(virtualClock());
    const missing = ['a', 'b', 'c'].map((name) => server.put(name));
    for (const name of ['a', 'b', 'c']) server.delete(name);
    server.put('b');
    await expect(verify(server, missing)).resolves.toBeUndefined();
  });

  it.each(['a', 'c', 'e'])('rejects when the sampled object %s exists', async (name) => {
    const server = createSmallServer(virtualClock());
    const missing = ['a', 'b', 'c', 'd', 'e'].map((each) => server.put(each));
    for (const each of ['a', 'b', 'c', 'd', 'e']) if (each !== name) server.delete(each);
    await expect(verify(server, missing)).rejects.toMatchObject({
      code: 'BadAnswer',
      message: `list rejected: it lacks Thing ${name}, which exists`,
    });
  });

  it('accepts an object that exists and no longer matches the selector', async () => {
    const server = createSmallServer(virtualClock());
    const missing = [server.put('a')];
    server.listFaults.push({ fault: 'empty' });
    await expect(verify(server, missing, { labelSelector: 'x=y' })).resolves.toBeUndefined();
    await expect(verify(server, missing, { labelSelector: 'x=y' })).rejects.toMatchObject({
      code: 'BadAnswer',
    });
  });

  it('accepts when it has no permission to get the object, and logs it', async () => {
    const server = createSmallServer(virtualClock());
    const missing = [server.put('a')];
    const log = memoryLog();
    await expect(verify(failing(server, 'Forbidden'), missing, {}, log)).resolves.toBeUndefined();
    const line = {
      level: 'warn',
      message: 'list trusted without a check: no right to get an object that it lacks',
      fields: { object: expect.stringMatching(/ a$/) as string, error: { message: 'no' } },
    };
    expect(log.lines).toMatchObject([line]);
  });

  it('rejects when the object cannot be read', async () => {
    const server = createSmallServer(virtualClock());
    const missing = [server.put('a')];
    const promise = verify(failing(server, 'Unreachable'), missing);
    await expect(promise).rejects.toMatchObject({ code: 'Unreachable' });
  });
});

function verify(
  client: Pick<SmallServer, 'get' | 'pages'>,
  missing: readonly KubeObject[],
  selection: Selection = {},
  log = memoryLog(),
): Promise<void> {
  return verifyMissing(missing, {
    client,
    resource: THINGS,
    selection,
    signal: new AbortController().signal,
    log,
  });
}

function failing(server: SmallServer, code: KubeErrorCode): Pick<SmallServer, 'get' | 'pages'> {
  return { ...server, get: () => Promise.reject(new KubeError(code, 'no')) };
}
