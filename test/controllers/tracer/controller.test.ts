/** The tracer over an API server in memory, with a collector that fails, and processes that are killed. */
import { describe, expect, it } from 'vitest';
import { MACHINE_COMPONENT_SETS, REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import { createTracerController } from '../../../src/controllers/tracer/controller.ts';
import { createTraceExporter, isRefusedExport } from '../../../src/observability/trace/otlp/exporter.ts';
import { createSender } from '../../../src/os/net/sender.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { remedyJob } from '../../support/remediers.ts';
import { componentSet } from '../componentset/component-set.ts';

const HOUR_MS = 3_600_000;

interface Bed extends ControllerBed {
  /** The names of the spans by request. */
  readonly arrived: (readonly string[])[];
  status: number;
  readonly settleJob: (name: string) => void;
}

function createBed(): Bed {
  const arrived: (readonly string[])[] = [];
  const parts: Pick<Bed, 'status'> = { status: 200 };
  const bed = createControllerBed({
    controllers: () => [createTracerController(createExporter())],
    kinds: [servedKind(REMEDY_OPERATION_JOBS), servedKind(MACHINE_COMPONENT_SETS)],
    objects: [],
    lease: true,
  });
  return Object.assign(parts, bed, {
    arrived,
    settleJob: (name: string) => {
      const { apiVersion, kind, metadata, spec } = remedyJob({ machine: 'n17' });
      const { uid: _, resourceVersion: __, ...rest } = metadata;
      bed.apply({ apiVersion, kind, metadata: { ...rest, name }, spec });
      const at = bed.clock.now().toISOString();
      const status = { outcome: { class: 'Succeeded' }, timeline: { detectedAt: at, settledAt: at } };
      bed.apply({ apiVersion, kind, metadata: { name }, status }, 'status');
    },
  });

  function createExporter(): ReturnType<typeof createTraceExporter> {
    const clock = { ...bed.clock, now: () => bed.clock.now() };
    return createTraceExporter({
      settings: { url: 'http://collector/v1/traces', headers: {}, resource: {} },
      version: '1',
      clock,
      log: memoryLog(),
      metrics: { ended: () => undefined },
      sender: createSender({
        clock,
        random: () => 0.5,
        isRefusal: isRefusedExport,
        exchange: async (_, { body = '' }) => {
          const { status } = parts;
          const names = [...body.matchAll(/"name":"(?<name>[^"]+)","kind"/g)];
          if (status === 200) arrived.push(names.map(({ groups }) => groups?.['name'] ?? ''));
          return { status, headers: new Headers(), body: '' };
        },
      }),
    });
  }
}

describe('DAT-10 the tracer on an API server', () => {
  it('exports a repair when it has ended, once, and again after a restart', async () => {
    const bed = createBed();
    const process = await bed.start();
    bed.settleJob('job-1');
    await bed.advance(60_000);
    expect(bed.arrived).toHaveLength(1);
    expect(bed.arrived[0]).toEqual(['repair', 'decide', 'settle']);
    await process.stop();
    await bed.start();
    await bed.advance(60_000);
    expect(bed.arrived).toHaveLength(2);
    expect(bed.arrived[1]).toEqual(bed.arrived[0]);
  });

  it('exports what ended while no process ran, but nothing older than an hour', async () => {
    const bed = createBed();
    bed.settleJob('job-1');
    await bed.advance(HOUR_MS);
    bed.settleJob('job-2');
    await bed.start();
    await bed.advance(60_000);
    expect(bed.arrived).toHaveLength(1);
  });

  it('exports a repair after the collector was away', async () => {
    const bed = createBed();
    bed.status = 503;
    await bed.start();
    bed.settleJob('job-1');
    await bed.advance(HOUR_MS / 2);
    expect(bed.arrived).toEqual([]);
    bed.status = 200;
    await bed.advance(HOUR_MS / 4);
    expect(bed.arrived).toHaveLength(1);
  });

  it('exports each batch of a rollout, and the rollout when it has ended', async () => {
    const bed = createBed();
    await bed.start();
    const { apiVersion, kind, metadata, spec } = componentSet('general');
    const { name } = metadata;
    bed.apply({ apiVersion, kind, metadata: { name }, spec });
    const report = async (status: object): Promise<void> => {
      bed.apply({ apiVersion, kind, metadata: { name }, status }, 'status');
      await bed.advance(10_000);
    };
    const at = bed.clock.now().toISOString();
    const commit = '4f2c9e1a77b0';
    const running = { updateRevision: 'r-2', startedAt: at, commit };
    await report({ ...running, batch: { index: 1, startedAt: at } });
    expect(bed.arrived).toEqual([]);
    const settled = { index: 1, startedAt: at, settledAt: at };
    await report({ ...running, batch: settled });
    await report({ ...running, batch: { ...settled, updated: 1 } });
    expect(bed.arrived).toEqual([['batch']]);
    await report({ ...running, batch: { index: 2, startedAt: at, settledAt: at } });
    await report({
      ...running,
      history: [{ revision: 'r-2', startedAt: at, finishedAt: at, commit, result: 'Completed' }],
    });
    expect(bed.arrived).toEqual([['batch'], ['batch'], ['rollout']]);
  });
});
