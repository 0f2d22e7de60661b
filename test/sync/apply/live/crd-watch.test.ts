import { describe, expect, it, onTestFinished } from 'vitest';
import { createCrdWatch } from '../../../../src/sync/apply/live/crd-watch.ts';
import { createSmallServer } from '../../../support/kube/small-server.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { settle, virtualClock } from '../../../support/virtual-clock.ts';

const WIDGET = { apiVersion: 'example.com/v1', kind: 'Widget' };
const SPEC = { group: 'example.com', names: { kind: 'Widget' } };

describe('createCrdWatch', () => {
  it('reports a kind as defined once its CRD is established, and not before it is started', async () => {
    const server = createSmallServer(virtualClock());
    const changes: boolean[] = [];
    const watch = createCrdWatch({
      client: server,
      clock: virtualClock(),
      log: memoryLog(),
      random: () => 0.5,
      onChange: () => changes.push(watch.defines(WIDGET)),
    });
    expect(server.requests).toEqual([]);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    watch.start(stop.signal);
    await settle();
    server.put('widgets.example.com', { spec: SPEC, status: conditions('False') });
    await settle();
    expect(watch.defines(WIDGET)).toBe(false);
    server.put('widgets.example.com', { spec: SPEC, status: conditions('True') });
    await settle();
    expect(watch.defines(WIDGET)).toBe(true);
    expect(watch.defines({ ...WIDGET, kind: 'Gadget' })).toBe(false);
    expect(changes.at(-1)).toBe(true);
  });
});

function conditions(status: string): object {
  return { conditions: [{ type: 'Established', status }] };
}
