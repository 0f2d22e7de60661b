/** Counts the errors of GPUs with one of some codes, within a time window, as the agent has read them in the kernel log. */
import type { MachineFacts } from '../../api/generated/types.ts';
import { isRecord, listAt, textAt } from '../../kube/objects/json.ts';
import { ageSecondsAt } from '../clocks/time-point.ts';
import { UNKNOWN_READING } from '../compiled-rule.ts';
import type { FactKind, ObservationType } from './fact.ts';
import {
  BOOLEAN_FIELD,
  COUNT_FIELD,
  createFields,
  createParams,
  type FactParams,
  type Observation,
  SECONDS_FIELD,
} from './field.ts';
import { type FactAnswer, type ReadFact, tooOldReason, unknownAnswer } from './reading/answer.ts';
import { isChanged } from './reading/changed.ts';
import type { NodeSnapshot } from './reading/snapshot.ts';
import { countInWindow } from './reading/window.ts';

/** The agent keeps the errors of a week. */
const WEEK = 604_800;
const MAX_CODES = 32;

const observed: ObservationType = {
  entry: createFields({
    code: COUNT_FIELD,
    gpu: COUNT_FIELD,
    ageSeconds: SECONDS_FIELD,
    earlierBoot: BOOLEAN_FIELD,
    reset: BOOLEAN_FIELD,
  }),
  read: (entries, params, reachSeconds) => {
    const window = countInWindow(withCodes(entries, params), params, reachSeconds);
    if (!window) return UNKNOWN_READING;
    const perGpu = new Map<unknown, number>();
    for (const { gpu } of window.inside) perGpu.set(gpu, (perGpu.get(gpu) ?? 0) + 1);
    const ofBoot = window.inside.filter(({ earlierBoot }) => earlierBoot !== true);
    return {
      ...window.reading,
      sinceBoot: ofBoot.length,
      // A reset ends what was before it, as a boot does: until the next error the GPU is taken for repaired.
      sinceReset: ofBoot.filter(({ reset }) => reset !== true).length,
      maxPerGPU: Math.max(0, ...perGpu.values()),
      distinctGPUs: perGpu.size,
    };
  },
};

function withCodes(entries: readonly Observation[], { codes }: FactParams): readonly Observation[] {
  return entries.filter(({ code }) => Array.isArray(codes) && codes.includes(Number(code)));
}

const read: ReadFact = (snapshot, params, maxAgeMs) => {
  const { problems, agentAgeMs } = snapshot;
  const problem =
    problems.machines ?? problems.agentLeases ?? tooOldReason('the agent', agentAgeMs, maxAgeMs);
  const reach = reachOf(snapshot, params);
  if (problem !== undefined) return unknownAnswer(problem);
  return typeof reach === 'string'
    ? unknownAnswer(reach)
    : countErrors(params, reportedErrors(snapshot, reach.uptimeSeconds), {
        ...reach,
        leftMs: maxAgeMs - agentAgeMs,
      });
};

interface XidReach {
  readonly reachSeconds: number;
  /** An error that was logged before the boot does not prove that it is there now. */
  readonly uptimeSeconds: number;
}

/** Returns how far back errors of these codes are known; or why they are not. */
function reachOf({ machine, point }: NodeSnapshot, { codes }: FactParams): XidReach | string {
  const { facts } = machine?.status ?? {};
  const reachSeconds = ageSecondsAt(point, completeSince(facts, codes));
  if (reachSeconds === undefined) return 'the agent reports no errors of GPUs: no driver of NVIDIA';
  const uptimeSeconds = ageSecondsAt(point, facts?.bootedAt);
  return uptimeSeconds === undefined
    ? 'the agent does not report when the host has booted'
    : { reachSeconds, uptimeSeconds };
}

/** Returns since when all errors of these codes are reported: a burst of another code does not count. */
function completeSince(facts: MachineFacts | undefined, codes: unknown): string | undefined {
  const { xidSince, xidCutCodes = [], xidOthersSince = xidSince } = facts ?? {};
  if (!Array.isArray(codes) || !Array.isArray(xidCutCodes)) return xidSince;
  return codes.some((code) => xidCutCodes.includes(Number(code))) ? xidSince : xidOthersSince;
}

function countErrors(
  params: FactParams,
  entries: readonly Observation[],
  { reachSeconds, leftMs }: XidReach & { readonly leftMs: number },
): FactAnswer {
  const reading = observed.read(entries, params, reachSeconds);
  const windowSeconds = Number(params['windowSeconds']);
  if (reading === UNKNOWN_READING) {
    const unknown = `errors of GPUs are known for the last ${Math.round(reachSeconds)} s only`;
    return { ...unknownAnswer(unknown), changesInMs: (windowSeconds - reachSeconds) * 1000 };
  }
  const ages = withCodes(entries, params).map(({ ageSeconds }) => Number(ageSeconds));
  const oldest = Math.max(-Infinity, ...ages.filter((age) => age <= windowSeconds));
  return { reading, changesInMs: Math.min(leftMs, (windowSeconds - oldest) * 1000) };
}

function reportedErrors({ machine, point }: NodeSnapshot, uptimeSeconds: number): readonly Observation[] {
  return listAt(machine, 'status', 'facts', 'xid')
    .filter(isRecord)
    .flatMap((entry) => {
      const { code, gpu, reset } = entry;
      const ageSeconds = ageSecondsAt(point, textAt(entry, 'at'));
      const isWhole = typeof code === 'number' && typeof gpu === 'number' && ageSeconds !== undefined;
      if (!isWhole) return [];
      return [{ code, gpu, ageSeconds, earlierBoot: ageSeconds > uptimeSeconds, reset: reset === true }];
    });
}

export const xidFact = {
  name: 'xid',
  source: 'Machine.status.facts.xid, by the agent',
  maxAge: { heartbeats: 3 },
  heartbeats: ['Agent'],
  params: createParams({
    codes: { type: 'codes', max: MAX_CODES },
    windowSeconds: { type: 'seconds', max: WEEK },
  }),
  fields: createFields({
    count: COUNT_FIELD,
    lastAgeSeconds: SECONDS_FIELD,
    sinceBoot: COUNT_FIELD,
    sinceReset: COUNT_FIELD,
    maxPerGPU: COUNT_FIELD,
    distinctGPUs: COUNT_FIELD,
  }),
  observed,
  read,
  changes: {
    machines: (before, after) =>
      isChanged(before, after, 'status', 'facts', 'xid') ||
      isChanged(before, after, 'status', 'facts', 'xidSince') ||
      isChanged(before, after, 'status', 'facts', 'xidCutCodes') ||
      isChanged(before, after, 'status', 'facts', 'xidOthersSince') ||
      isChanged(before, after, 'status', 'facts', 'bootedAt'),
  },
  recorded: {
    machines: {
      status: {
        facts: { xid: true, xidSince: true, xidCutCodes: true, xidOthersSince: true, bootedAt: true },
      },
    },
  },
} satisfies FactKind;
