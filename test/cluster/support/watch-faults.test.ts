import { describe, expect, it } from 'vitest';
import type { Fault } from '../../support/fault-proxy/proxied-request.ts';
import {
  closeWatch,
  freezeWatch,
  openWatches,
  tearWatch,
  watchError,
} from '../../support/fault-proxy/watch-faults.ts';
import type { WatchLine } from '../../support/https-client.ts';
import { describeEvent, proxyBed } from './proxy-bed.ts';

const bed = proxyBed();

describe('a watch that fails in the middle', () => {
  // Each with what the client receives of three objects when the fault is due after two.
  it.each<[name: string, fault: (afterEvents: number) => Fault, sees: string[]]>([
    ['close', closeWatch, ['ADDED a', 'ADDED b', 'end']],
    ['tear', tearWatch, ['ADDED a', 'ADDED b', 'ECONNRESET']],
    ['410', (after) => watchError(410, after), ['ADDED a', 'ADDED b', 'ERROR 410', 'end']],
  ])('%s after two events', async (_name, fault, sees) => {
    for (const name of ['a', 'b', 'c']) await bed.create(name);
    bed.proxy.on({ verb: 'watch', fault: fault(2) });
    expect(await received(bed.watchMaps())).toEqual(sees);
  });

  it.each<[name: string, fault: Fault, sees: string[]]>([
    ['close', closeWatch(), ['end']],
    ['tear', tearWatch(), ['ECONNRESET']],
    ['410', watchError(), ['ERROR 410', 'end']],
  ])('%s before any event', async (_name, fault, sees) => {
    await bed.create('a');
    bed.proxy.on({ verb: 'watch', fault });
    expect(await received(bed.watchMaps())).toEqual(sees);
  });

  it('freeze: open, but silent', async () => {
    await bed.create('a');
    bed.proxy.on({ verb: 'watch', nth: 1, fault: freezeWatch(1) });
    const [frozen, healthy] = [bed.watchMaps(), bed.watchMaps()];
    expect(describeEvent((await frozen.next()).value)).toBe('ADDED a');
    const next = frozen.next();
    await healthy.next();
    await bed.create('b');
    expect(describeEvent((await healthy.next()).value)).toBe('ADDED b');
    expect(await Promise.race([next, Promise.resolve('nothing yet')])).toBe('nothing yet');
    // A reset ends only requests that a fault holds.
    const [broken] = await Promise.allSettled([next, Promise.resolve(bed.proxy.reset())]);
    expect(broken).toMatchObject({ status: 'rejected', reason: { code: 'ECONNRESET' } });
    await bed.create('c');
    expect(describeEvent((await healthy.next()).value)).toBe('ADDED c');
    await healthy.return(undefined);
  });

  it('ends the next watch as the last call asked for, when none was open', async () => {
    const watches = openWatches();
    bed.proxy.on({ verb: 'watch', fault: watches.fault });
    watches.end();
    watches.end(410);
    expect(await received(bed.watchMaps())).toEqual(['ERROR 410', 'end']);
  });
});

async function received(events: AsyncGenerator<WatchLine, undefined>): Promise<string[]> {
  const all: string[] = [];
  try {
    for await (const event of events) all.push(describeEvent(event));
    return [...all, 'end'];
  } catch (error) {
    return [...all, (error as NodeJS.ErrnoException).code ?? String(error)];
  }
}
