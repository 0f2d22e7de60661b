import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import {
  type ConnectToCluster,
  createConnectedClusters,
} from '../../../src/console/feeds/connected-clusters.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const REPORT = { verb: 'list', seconds: 0 } as const;

/** Counts the clients. Each call of one is reported, and refused while the credentials with which it was made are not valid. */
function bed() {
  const clock = virtualClock();
  const state = { valid: 'a', present: 'a' };
  const made: string[] = [];
  const closed: string[] = [];
  const connectTo: ConnectToCluster = (name, onCall) => {
    const credentials = state.present;
    const id = `${name} ${made.length + 1}`;
    made.push(id);
    const call = (): Promise<never> => {
      const isValid = credentials === state.valid;
      onCall({ ...REPORT, code: isValid ? '403' : '401' });
      return Promise.reject(new KubeError(isValid ? 'Forbidden' : 'Unauthorized', 'refused'));
    };
    async function* pages(): AsyncGenerator<never> {
      yield await call();
    }
    const close = (): Promise<void> => Promise.resolve(void closed.push(id));
    const client = { server: `https://${name}`, list: call, pages, watch: call, get: call, close };
    return Promise.resolve({ client: client as unknown as Client, by: 'context' });
  };
  const clusters = createConnectedClusters({ clock, connectTo, onChange: () => undefined });
  return { clock, state, made, closed, clusters, connectTo };
}

const fail = (): Promise<never> => Promise.reject(new KubeError('Forbidden', 'refused'));

describe('connected clusters', () => {
  it('are connected again when their version changes, and closed when they are not listed', async () => {
    const { made, closed, clusters } = bed();
    await clusters.update([{ name: 'eu-1', version: '1' }]);
    await clusters.update([{ name: 'eu-1', version: '1' }]);
    expect([made, closed]).toEqual([['eu-1 1'], []]);
    await clusters.update([{ name: 'eu-1', version: '2' }]);
    expect([made, closed]).toEqual([['eu-1 1', 'eu-1 2'], ['eu-1 1']]);
    await clusters.update([]);
    expect([clusters.list(), closed]).toEqual([[], ['eu-1 1', 'eu-1 2']]);
  });

  it('are connected again with other credentials after the server refused those before', async () => {
    const { clock, state, made, closed, clusters } = bed();
    const listed = [{ name: 'eu-1', version: '1' }];
    await clusters.update(listed);
    const [first] = clusters.list();
    state.valid = 'b';
    await first?.client.list(MACHINES).catch(() => undefined);
    await clusters.update(listed);
    // The last state stays while the kubeconfig has the credentials of before.
    expect([clusters.list()[0] === first, closed]).toEqual([true, ['eu-1 2']]);
    state.present = 'b';
    await clusters.update(listed);
    expect(made).toHaveLength(2);
    await clock.advance(30_000);
    await clusters.update(listed);
    expect([made.length, closed]).toEqual([3, ['eu-1 2', 'eu-1 1']]);
    expect(clusters.list()[0]).not.toBe(first);
    await clusters.close();
  });

  it('CON-33 are hidden with the reason when nothing that was read may be shown, and connected again', async () => {
    const clock = virtualClock();
    const refusals: AbortController[] = [];
    const closed: string[] = [];
    let changes = 0;
    const connectTo: ConnectToCluster = (name) => {
      const refusal = new AbortController();
      refusals.push(refusal);
      async function* pages(): AsyncGenerator<never> {
        yield await fail();
      }
      const close = (): Promise<void> => Promise.resolve(void closed.push(name));
      const client = { server: `https://${name}`, list: fail, pages, watch: fail, get: fail, close };
      return Promise.resolve({
        client: client as unknown as Client,
        by: 'context',
        refused: refusal.signal,
      });
    };
    const clusters = createConnectedClusters({ clock, connectTo, onChange: () => (changes += 1) });
    const listed = [{ name: 'eu-1', version: '1' }];
    await clusters.update(listed);
    const before = changes;
    refusals[0]?.abort(new Error('the token is not accepted'));
    expect([clusters.list(), changes]).toEqual([[], before + 1]);
    expect(clusters.missingReason('eu-1')).toBe('its machines are not shown: the token is not accepted');
    await clusters.update(listed);
    expect(refusals).toHaveLength(1);
    await clock.advance(30_000);
    await clusters.update(listed);
    expect([clusters.list().length, clusters.missingReason('eu-1')]).toEqual([1, undefined]);
    await clusters.close();
    expect(closed).toEqual(['eu-1', 'eu-1']);
  });

  it('CON-33 are tried again thirty seconds after they could not be connected, or when their version changes', async () => {
    const { clock } = bed();
    const tried: number[] = [];
    const clusters = createConnectedClusters({
      clock,
      connectTo: () => {
        tried.push(clock.monotonicMs() - start);
        return fail();
      },
      onChange: () => undefined,
    });
    const start = clock.monotonicMs();
    const update = (version: string): Promise<void> => clusters.update([{ name: 'eu-1', version }]);
    await update('1');
    await clock.advance(29_999);
    await update('1');
    expect(tried).toEqual([0]);
    expect(clusters.missingReason('eu-1')).toBe('its machines are not shown: refused');
    await clock.advance(1);
    await update('1');
    await update('1');
    await update('2');
    expect(tried).toEqual([0, 30_000, 30_000]);
    await clusters.update([]);
    await update('2');
    expect(tried).toHaveLength(4);
  });

  it('CON-33 are read while another one does not answer', async () => {
    const { clock, connectTo } = bed();
    const held = Promise.withResolvers<never>();
    const clusters = createConnectedClusters({
      clock,
      connectTo: (name, onCall) => (name === 'silent' ? held.promise : connectTo(name, onCall)),
      onChange: () => undefined,
    });
    const updated = clusters.update([
      { name: 'silent', version: '1' },
      { name: 'eu-1', version: '1' },
    ]);
    await clock.advance(0);
    expect(clusters.list().map(({ name }) => name)).toEqual(['eu-1']);
    held.reject(new Error('no answer'));
    await updated;
    expect(clusters.missingReason('silent')).toBe('its machines are not shown: no answer');
    await clusters.close();
  });
});
