/** Decides which silent machines are probed now, and what is reported of the results. Pure. */
import type { PeerResult } from '../../api/enums.ts';
import type { PeerAnswer, PeerProbeRequest } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';

/** Holds what the agent found of one machine. */
export interface PeerFinding {
  readonly answer: PeerAnswer;
  /** When the last probe began, on the monotonic clock. */
  readonly probedMs: number;
}

/** Holds what was found by the name of the machine. */
export type PeerFindings = ReadonlyMap<string, PeerFinding>;

export interface ProbeOutcome {
  readonly request: PeerProbeRequest;
  readonly result: PeerResult;
  readonly probedMs: number;
}

/** Bounds the machines that are probed, twice a minute each: at most 16 connections a minute, whatever the size of the fleet. */
const MAX_PROBED = 8;
const AGAIN_MS = 30_000;
/** An answer that stays the same is written again so often: readers take one of five minutes for stale. */
const REPORT_MS = 120_000;

/** Returns the requests that are due. Another request for the same machine does not make it due earlier. */
export function dueRequests(
  requests: readonly PeerProbeRequest[],
  findings: PeerFindings,
  nowMs: number,
): readonly PeerProbeRequest[] {
  return requests.slice(0, MAX_PROBED).filter(({ machine }) => {
    const found = findings.get(machine);
    return !found || nowMs - found.probedMs >= AGAIN_MS;
  });
}

/** Returns what is known after these outcomes, without machines that are not asked about any more. */
export function updateFindings(
  before: PeerFindings,
  requests: readonly PeerProbeRequest[],
  outcomes: readonly ProbeOutcome[],
  now: Date,
): PeerFindings {
  const requested = new Set(requests.slice(0, MAX_PROBED).map(({ machine }) => machine));
  const found = outcomes.map(({ request, result, probedMs }) => {
    const answer = answerOf(before.get(request.machine)?.answer, request, result, now);
    return [request.machine, { answer, probedMs }] as const;
  });
  return new Map([...before, ...found].filter(([machine]) => requested.has(machine)));
}

function answerOf(
  before: PeerAnswer | undefined,
  { machine, since: requestedAt }: PeerProbeRequest,
  result: PeerResult,
  now: Date,
): PeerAnswer {
  const at = now.toISOString();
  const isSame = before?.result === result && before.requestedAt === requestedAt;
  if (isSame && isRecent(before, now)) return before;
  return { machine, result, requestedAt, since: isSame ? before.since : at, lastProbeTime: at };
}

/** An answer of the future is written again: the clock was set back. */
function isRecent({ lastProbeTime }: PeerAnswer, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(lastProbeTime);
  return ageMs >= 0 && ageMs < REPORT_MS;
}

export function reportedAnswers(findings: PeerFindings): readonly PeerAnswer[] {
  return [...findings.values()].map(({ answer }) => answer).toSorted((a, b) => byCode(a.machine, b.machine));
}
