/** The notifier over an API server in memory, with receivers that fail, and processes that are killed. */
import { describe, expect, it } from 'vitest';
import { MACHINES, NODE_REMEDIERS, REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { ANNOTATION_NOTIFIED } from '../../../src/api/names.ts';
import { createNotifierController } from '../../../src/controllers/notifier/controller.ts';
import type { ReceiverConfig } from '../../../src/controllers/notifier/receivers/config.ts';
import { createReceivers } from '../../../src/controllers/notifier/receivers/receivers.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { machine } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { fakeContext } from '../../support/controller/fake-context.ts';
import { remedier } from '../../support/remediers.ts';
import { HAND_OFF, tellingJob } from './jobs.ts';

const HOUR_MS = 3_600_000;
const RECEIVERS: readonly ReceiverConfig[] = [
  { name: 'tickets', type: 'Webhook', url: 'https://tickets.example.com' },
  { name: 'chat', type: 'Slack', url: 'https://chat.example.com', sendResolved: true },
];

function refuse(): Promise<never> {
  return Promise.reject(new Error('the API server is away'));
}

function jobIn(body: string): string {
  return /job (?<job>[^"\\]+)/.exec(body)?.groups?.['job'] ?? '';
}

interface Bed extends ControllerBed {
  /** Requests by receiver: ids of the notices, or the status that was answered. */
  readonly arrived: Record<'tickets' | 'chat', (string | number)[]>;
  status: (receiver: 'tickets' | 'chat') => number;
  readonly record: (name: string) => unknown;
  readonly createJob: (name: string) => void;
  readonly endJob: (name: string) => void;
  /** Reports whether the machine needs a person, as of now. */
  readonly reportPerson: (status: 'True' | 'False') => void;
}

function createBed(): Bed {
  const arrived: Bed['arrived'] = { tickets: [], chat: [] };
  const parts: Pick<Bed, 'status'> = { status: () => 200 };
  const bed = createControllerBed({
    controllers: () => [
      createNotifierController({
        selections: RECEIVERS,
        metrics: { sent: () => undefined },
        receivers: createReceivers({
          config: { receivers: RECEIVERS },
          clock: { ...bed.clock, now: () => bed.clock.now() },
          random: () => 0.5,
          readFile: () => Promise.reject(new Error('there is none')),
          exchange: async (url, { headers, body = '' }) => {
            const receiver = url.includes('chat') ? 'chat' : 'tickets';
            const status = parts.status(receiver);
            const id = headers?.['idempotency-key'] ?? jobIn(body);
            arrived[receiver].push(status === 200 ? id : status);
            return { status, headers: new Headers(), body: '' };
          },
        }),
      }),
    ],
    kinds: [
      servedKind(REMEDY_OPERATION_JOBS),
      servedKind(MACHINES),
      { resource: NODE_REMEDIERS, status: true },
    ],
    // Jobs of the tests are about this Machine.
    objects: [remedier(), { ...machine('n17'), metadata: { name: 'n17' } }],
    lease: true,
  });
  return Object.assign(parts, bed, {
    arrived,
    record: (name: string) => {
      const { metadata } = bed.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, name) ?? {};
      return JSON.parse(metadata?.annotations?.[ANNOTATION_NOTIFIED] ?? '{}') as unknown;
    },
    createJob: (name: string) => {
      const { status, ...job } = tellingJob([[HAND_OFF, 0]], { name });
      const startedAt = bed.clock.now().toISOString();
      const steps = status?.steps?.map((step) => ({ ...step, startedAt }));
      const { apiVersion, kind } = job;
      const { uid = '' } = bed.get(MACHINES, 'n17')?.metadata ?? {};
      const spec = { ...job.spec, machine: { name: 'n17', uid } };
      bed.apply({ ...job, metadata: { name }, spec });
      bed.apply({ apiVersion, kind, metadata: { name }, status: { steps } }, 'status');
    },
    endJob: (name: string) => {
      const { apiVersion, kind, status } = bed.get<RemedyOperationJob>(
        REMEDY_OPERATION_JOBS,
        name,
      ) as RemedyOperationJob;
      const timeline = { settledAt: bed.clock.now().toISOString() };
      const outcome = { class: 'HandedOff', reason: 'HandedOff', message: 'a person is needed' };
      bed.apply(
        { apiVersion, kind, metadata: { name }, status: { steps: status?.steps, outcome, timeline } },
        'status',
      );
    },
    reportPerson: (status: 'True' | 'False') => {
      const { apiVersion, kind } = machine('n17');
      const lastTransitionTime = bed.clock.now().toISOString();
      const condition = {
        type: 'NeedsPerson',
        status,
        reason: 'Reported',
        message: 'words',
        lastTransitionTime,
      };
      bed.apply(
        { apiVersion, kind, metadata: { name: 'n17' }, status: { conditions: [condition] } },
        'status',
      );
    },
  });
}

describe('the notifier', () => {
  it('tells each receiver once, and nothing again after a restart', async () => {
    const bed = createBed();
    bed.createJob('job-1');
    const process = await bed.start();
    await bed.advance(1000);
    expect(bed.arrived).toEqual({ tickets: [expect.stringMatching(/\/s1$/)], chat: ['job-1'] });
    const at = expect.stringMatching(/^2030-01-01T/) as string;
    expect(bed.record('job-1')).toEqual({ tickets: { s1: at }, chat: { s1: at } });
    await process.stop();
    await bed.start();
    await bed.advance(60_000);
    expect(bed.arrived.chat).toHaveLength(1);
  });

  it('tells a receiver that answered 500 for an hour, and asked it seldom', async () => {
    const bed = createBed();
    bed.status = (receiver) => (receiver === 'chat' ? 500 : 200);
    bed.createJob('job-1');
    await bed.start();
    await bed.advance(HOUR_MS);
    expect(bed.arrived.tickets).toHaveLength(1);
    expect(bed.arrived.chat.length).toBeLessThan(25);
    expect(bed.record('job-1')).toEqual({ tickets: { s1: expect.any(String) as string } });
    const notes = bed.api.objects.list({ resource: EVENTS }).map((event) => textAt(event, 'note'));
    expect(notes).toContain(
      'receiver chat: it answered with status 500. It is sent again for 24 hours after the step began',
    );
    bed.status = () => 200;
    await bed.advance(HOUR_MS);
    expect(bed.arrived.chat.filter((each) => each !== 500)).toEqual(['job-1']);
    expect(bed.arrived.tickets).toHaveLength(1);
  });

  it('stops after a day', async () => {
    const bed = createBed();
    bed.status = () => 500;
    bed.createJob('job-1');
    await bed.start();
    await bed.advance(HOUR_MS);
    const [{ length: before }] = [bed.arrived.chat];
    bed.clock.jumpWall(23 * HOUR_MS);
    await bed.advance(HOUR_MS);
    expect(bed.arrived.chat.length - before).toBeLessThan(2);
  });

  it.each(['before', 'after'] as const)(
    'tells at least once when it is killed %s the write of its record',
    async (when) => {
      const bed = createBed();
      bed.createJob('job-1');
      // The first write is that of the Lease.
      const process = await bed.start({ n: 2, when });
      await bed.advance(1000);
      expect(process.crashed).toBe(true);
      await process.kill();
      await bed.start();
      await bed.advance(60_000);
      expect(new Set(bed.arrived.chat)).toEqual(new Set(['job-1']));
      expect(bed.arrived.chat).toHaveLength(when === 'before' ? 2 : 1);
      expect(bed.record('job-1')).toMatchObject({ chat: {}, tickets: {} });
    },
  );

  it('lets a receiver that is down cost few requests, and keep nothing from another, with 300 jobs', async () => {
    const bed = createBed();
    bed.status = (receiver) => (receiver === 'chat' ? 503 : 200);
    for (let n = 0; n < 300; n += 1) bed.createJob(`job-${n}`);
    await bed.start();
    await bed.advance(600_000);
    expect(bed.arrived.tickets).toHaveLength(300);
    // Four at once find that it fails, each time that it is tried.
    expect(bed.arrived.chat.length).toBeLessThan(40);
    bed.status = () => 200;
    await bed.advance(600_000);
    expect(bed.arrived.chat.filter((each) => each !== 503)).toHaveLength(300);
  });

  it('tells a receiver once when the machine needs no person any more, also one that got the beginning late', async () => {
    const bed = createBed();
    bed.status = (receiver) => (receiver === 'chat' ? 500 : 200);
    bed.createJob('job-1');
    await bed.start();
    await bed.advance(1000);
    bed.endJob('job-1');
    bed.reportPerson('True');
    await bed.advance(60_000);
    bed.reportPerson('False');
    await bed.advance(60_000);
    bed.status = () => 200;
    await bed.advance(HOUR_MS);
    expect(bed.arrived.chat.filter((each) => each !== 500)).toEqual(['job-1', 'job-1']);
    const at = expect.any(String) as string;
    expect(bed.record('job-1')).toEqual({ tickets: { s1: at }, chat: { s1: at, 's1/resolved': at } });
    expect(bed.arrived.tickets).toHaveLength(1);
  });

  it('stops a day after it found that the Machine was deleted', async () => {
    const bed = createBed();
    bed.createJob('job-1');
    await bed.start();
    await bed.advance(1000);
    bed.endJob('job-1');
    bed.status = () => 500;
    bed.delete(MACHINES, 'n17');
    await bed.advance(HOUR_MS);
    const [{ length: before }] = [bed.arrived.chat];
    expect(before).toBeGreaterThan(2);
    bed.clock.jumpWall(23 * HOUR_MS);
    await bed.advance(HOUR_MS);
    expect(bed.arrived.chat.length - before).toBeLessThan(2);
  });

  it('tells again what a damaged record does not show', async () => {
    const bed = createBed();
    bed.createJob('job-1');
    const { metadata, ...job } = bed.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, 'job-1') ?? ({} as never);
    bed.apply({
      ...job,
      metadata: { name: metadata.name, annotations: { [ANNOTATION_NOTIFIED]: '{"chat":7' } },
    });
    await bed.start();
    await bed.advance(1000);
    expect(bed.record('job-1')).toMatchObject({ chat: {}, tickets: {} });
  });

  it('remembers what it could not record for this very job, and not for the next one of its name', async () => {
    const sent: string[] = [];
    const controller = createNotifierController({
      selections: [{ name: 'tickets' }],
      metrics: { sent: () => undefined },
      receivers: {
        send: async (delivery) => {
          sent.push(delivery.notice.id);
          return { outcome: 'Delivered', body: '' };
        },
      },
    });
    const reconcile = async (uid: string): Promise<unknown> => {
      const job = tellingJob([[HAND_OFF, 60]], { uid });
      const { context } = fakeContext({
        objects: { RemedyOperationJob: [job], NodeRemedier: [], Machine: [] },
      });
      return await controller.reconcile(job.metadata.name, { ...context, apply: refuse }).catch(String);
    };
    expect([await reconcile('one'), await reconcile('one'), await reconcile('two')]).toEqual(
      Array.from({ length: 3 }, () => 'Error: the API server is away'),
    );
    expect(sent).toEqual(['one/s1', 'two/s1']);
  });
});
