/** The step AnswerProvider, over a provider that reboots the host for an answer: late, without an answer, or after a refusal. */
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { JobStep } from '../../../src/api/generated/types.ts';
import { ProviderError, type ProviderErrorCode } from '../../../src/providers/contract.ts';
import { maintenanceEvent } from '../../support/maintenance.ts';
import { stride } from '../../support/sweep-size.ts';
import { createJobBed, type JobBed } from './job-bed.ts';
import { HEALTHY, jobMachine, jobStep } from './jobs.ts';

const VERIFY = { holdSeconds: 2, timeoutSeconds: 8, target: 'Node', conditions: HEALTHY } as never;
/** A provider moves an instance in minutes. */
const REBOOT_MS = 45_000;
const INSTANCE = 'local://i-1';
const PLAN: readonly JobStep[] = [
  jobStep('s1', 'Cordon'),
  jobStep('s2', 'AnswerProvider', { with: { answer: 'StartNow' }, timeoutSeconds: 120 }),
];

interface ProviderFaults {
  readonly refusal?: string;
  /** The error of each call in turn; the call takes effect when the error is Ambiguous. */
  readonly errors?: ProviderErrorCode[];
  /** It accepts, and nothing happens. */
  readonly isDeaf?: boolean;
}

interface AnswerBed extends JobBed {
  readonly sent: string[];
}

function createBed(faults: ProviderFaults = {}): AnswerBed {
  const { errors = [], isDeaf = false } = faults;
  const bed = createJobBed();
  const sent: string[] = [];
  let rebootsAt = Infinity;
  bed.host.provider = {
    refusal: () => faults.refusal,
    send: async ({ metadata }, { eventId, answer }) => {
      // As documented: an instance that stops takes no second answer.
      if (rebootsAt !== Infinity) throw new ProviderError('Retryable', 'the instance is stopping');
      const code = errors.shift();
      const isDone = code === undefined || code === 'Ambiguous';
      if (isDone) sent.push(`${answer} ${eventId} ${metadata.name}`);
      if (isDone && !isDeaf) rebootsAt = bed.clock.now().getTime() + REBOOT_MS;
      if (code !== undefined) throw new ProviderError(code, 'no answer');
    },
  };
  const { apiVersion, kind, metadata } = jobMachine();
  bed.apply(
    { apiVersion, kind, metadata: { name: metadata.name }, status: { infra: { providerID: INSTANCE } } },
    'status',
  );
  const uid = bed.get(MACHINES, 'm')?.metadata.uid ?? '';
  const { metadata: named, spec, ...rest } = maintenanceEvent({ machine: 'm' });
  bed.apply({ ...rest, metadata: { name: named.name }, spec });
  bed.apply(
    { ...rest, metadata: { name: named.name }, status: { machine: { uid, providerID: INSTANCE } } },
    'status',
  );
  bed.createJob({ plan: PLAN, onVerified: [jobStep('v1', 'Uncordon')], verify: VERIFY });
  return { ...bed, sent, live };

  async function live(seconds: number): Promise<void> {
    for (let left = seconds * 2; left > 0; left -= 1) {
      if (rebootsAt <= bed.clock.now().getTime()) {
        rebootsAt = Infinity;
        bed.comeBack();
      }
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await bed.live(0.5);
    }
  }
}

async function started(faults: ProviderFaults = {}): Promise<AnswerBed> {
  const bed = createBed(faults);
  await bed.start();
  return bed;
}

function hold(bed: JobBed): void {
  const { apiVersion, kind } = jobMachine();
  bed.apply({ apiVersion, kind, metadata: { name: 'm' }, spec: { hold: { reason: 'mine', scope: 'All' } } });
}

async function liveUntil(bed: AnswerBed, isOver: () => boolean, seconds: number): Promise<void> {
  for (let left = seconds * 2; left > 0 && !isOver(); left -= 1) {
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other
    await bed.live(0.5);
  }
}

function stepOf(bed: JobBed): string {
  const { state, message } = bed.job()?.status?.steps?.find(({ id }) => id === 's2') ?? {};
  return `${state}: ${message}`;
}

describe('a job that answers the provider', () => {
  it.each<[name: string, faults: ProviderFaults]>([
    ['accepted', {}],
    ['the answer was lost', { errors: ['Ambiguous'] }],
    ['nothing happened twice', { errors: ['Retryable', 'Retryable'] }],
  ])('R31 answers once, and is done at the next boot: %s', async (_, faults) => {
    const bed = await started(faults);
    await bed.live(120);
    expect(bed.sent).toEqual(['StartNow local-e-1 m']);
    expect(stepOf(bed)).toMatch(/^Succeeded: the node has booted: boot-again-/);
    expect(bed.job()?.status?.outcome?.class).toBe('Succeeded');
  });

  it('R31 ends Ambiguous when no boot follows, and sends nothing again', async () => {
    const bed = await started({ isDeaf: true });
    await bed.live(150);
    expect(bed.sent).toEqual(['StartNow local-e-1 m']);
    expect(stepOf(bed)).toMatch(/^Ambiguous: not done in 120 s: the provider has accepted StartNow at/);
    expect(bed.job()?.status?.outcome?.class).toBe('Ambiguous');
  });

  it('R31 fails for good when the provider refuses', async () => {
    const bed = await started({ errors: ['Terminal'] });
    await bed.live(20);
    expect(stepOf(bed)).toBe('Failed: StartNow was not accepted: no answer');
    expect(bed.job()?.status?.outcome?.class).toBe('Permanent');
    expect(bed.sent).toEqual([]);
  });

  it('R39 goes on where the provider takes no answers', async () => {
    const bed = await started({ refusal: 'provider local takes no answers' });
    await bed.live(5);
    expect(stepOf(bed)).toBe('Succeeded: not answered: provider local takes no answers');
    expect(bed.sent).toEqual([]);
  });

  it('R31 waits for the boot of an answer that was sent, though its provider is not open any more', async () => {
    const faults: { refusal?: string } = {};
    const bed = await started(faults);
    await liveUntil(bed, () => bed.sent.length > 0, 20);
    faults.refusal = 'provider local is not open here';
    await bed.live(20);
    expect(stepOf(bed)).toMatch(/^Running/);
    await bed.live(100);
    expect(stepOf(bed)).toMatch(/^Succeeded: the node has booted: boot-again-/);
  });

  it('R33 sends nothing to a machine that a person holds since the provider was busy', async () => {
    const errors: ProviderErrorCode[] = ['Retryable', 'Retryable', 'Retryable'];
    const bed = await started({ errors });
    await liveUntil(bed, () => errors.length < 3, 20);
    hold(bed);
    await bed.live(40);
    expect(bed.sent).toEqual([]);
    expect(bed.job()?.status?.outcome).toMatchObject({ class: 'Cancelled', reason: 'Held' });
  });

  it('R33 sends nothing to a machine that a person holds while the grant is renewed', async () => {
    const bed = createBed();
    Object.defineProperty(bed.host, 'renewal', {
      get: () => {
        if (bed.job()?.status?.steps?.some(({ answer }) => answer)) hold(bed);
        return 'granted';
      },
    });
    await bed.start();
    await bed.live(40);
    expect(bed.sent).toEqual([]);
    expect(bed.job()?.status?.outcome).toMatchObject({ class: 'Cancelled', reason: 'Held' });
  });

  it('R33 sends nothing without a grant', async () => {
    const bed = createBed();
    bed.host.renewal = 'denied';
    await bed.start();
    await bed.live(30);
    expect(bed.sent).toEqual([]);
  });

  it('R33 goes on waiting when the event is over while the instance reboots', async () => {
    const bed = await started();
    await liveUntil(bed, () => bed.sent.length > 0, 20);
    bed.host.facts = () => ({ status: 'False', observedSeconds: 999 });
    await bed.live(3);
    expect(bed.job()?.status?.outcome).toBeUndefined();
  });

  it('R30 R31 answers at most once when the controller crashes at any write, for a moment or for long', async () => {
    const { first, step } = stride(3);
    const ends: CrashEnd[] = [];
    for (let n = first; ends.length === 0 || ends.at(-1)?.isCrashed; n += step) {
      for (const when of ['before', 'after'] as const) {
        ends.push(await crashedAt({ n, when })); // oxlint-disable-line no-await-in-loop -- one scenario after the other
      }
    }
    expect(ends.filter(({ sent }) => sent > 1)).toEqual([]);
    expect(ends.filter(({ outcome }) => outcome === undefined)).toEqual([]);
    expect(ends.filter(({ isLong, outcome }) => !isLong && outcome !== 'Succeeded')).toEqual([]);
    expect(ends.length).toBeGreaterThan(4);
  });
});

interface CrashEnd {
  readonly at: Crash;
  readonly isCrashed: boolean;
  readonly isLong: boolean;
  readonly sent: number;
  readonly outcome: string | undefined;
}

interface Crash {
  readonly n: number;
  readonly when: 'before' | 'after';
}

/** Another process takes over ten seconds after the crash, or much later. */
async function crashedAt(at: Crash): Promise<CrashEnd> {
  const bed = createBed();
  const isLong = at.n % 2 === 0;
  const process = await bed.start(at);
  await liveUntil(bed, () => process.crashed, 200);
  const isCrashed = process.crashed;
  if (isCrashed) {
    await bed.live(isLong ? 90 : 10);
    await process.kill();
    await bed.start();
    await bed.live(200);
  }
  return { at, isCrashed, isLong, sent: bed.sent.length, outcome: bed.job()?.status?.outcome?.class };
}
