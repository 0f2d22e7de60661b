import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { createHostingController } from '../../../../src/controllers/hosting/controller.ts';
import type { PlaneDriver, PlaneReport } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { createChangeTurn } from '../../../../src/controllers/hosting/execute/turn.ts';
import { type ControllerBed, createControllerBed } from '../../../support/controller/bed.ts';
import { applied, conditionText, found, KINDS } from '../../../support/hosting/bed.ts';
import { type MemoryHosting, memoryHosting } from '../../../support/hosting/memory/driver.ts';
import { memoryGrants } from '../../../support/memory-grants.ts';

describe('createChangeTurn', () => {
  it('gives one Cluster the turn until it ends, also again, and then the next one', () => {
    const turn = createChangeTurn();
    expect([turn.take('a', 0), turn.take('b', 1), turn.take('a', 50_000)]).toEqual([
      undefined,
      'a',
      undefined,
    ]);
    expect([turn.take('b', 60_000), turn.take('b', 109_999)]).toEqual(['a', 'a']);
    expect([turn.take('b', 110_000), turn.take('a', 110_001)]).toEqual([undefined, 'b']);
  });
});

const PLANES = ['ci', 'dev', 'qa'];

/** Control planes whose controllers run `one`, and are to run the image that `desired` returns. */
function imagesOf(driver: PlaneDriver, desired: () => string): PlaneDriver {
  return {
    ...driver,
    observe: async (spec, signal) => {
      const report: PlaneReport = await driver.observe(spec, signal);
      const { settled, programs } = report;
      if (!settled || !('versions' in programs)) return report;
      return {
        ...report,
        settled: { ...settled, controllers: 'one' },
        programs: { ...programs, controllers: desired() },
      };
    },
  };
}

describe('a new image of our controllers', () => {
  it('begins in one of several control planes, also when all are reconciled at the same moment', async () => {
    let image = 'one';
    let opened: MemoryHosting | undefined;
    const memory = (): MemoryHosting => (opened ??= memoryHosting(() => bed.clock.now()));
    const grants = memoryGrants({ now: () => bed.clock.now() });
    const bed: ControllerBed = createControllerBed({
      controllers: () => [
        createHostingController({
          ...memory(),
          driver: imagesOf(memory().driver, () => image),
          grants,
          maxClusters: 20,
          maxAgeSeconds: 691_200,
        }),
      ],
      kinds: KINDS,
      objects: PLANES.map((name) => applied({ name })),
    });
    await bed.start();
    await bed.advance(20_000);
    for (const name of PLANES) expect(conditionText(bed, 'ControlPlaneReady', name)).toBe('True Ready');

    image = 'two';
    const begun = new Set<string>();
    for (let step = 0; step < 300; step += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one moment after the other
      await bed.advance(100);
      for (const name of PLANES.filter((each) => isChanging(found(bed, each)))) begun.add(name);
    }
    expect(begun.size).toBe(1);
    const waiting = PLANES.filter((name) => !begun.has(name));
    expect(waiting.map((name) => conditionText(bed, 'ControlPlaneUpToDate', name))).toEqual([
      'False ControllersChanging',
      'False ControllersChanging',
    ]);
  });
});

function isChanging(cluster: Cluster | undefined): boolean {
  return cluster?.status?.hosted?.upgrade?.controllers !== undefined;
}
