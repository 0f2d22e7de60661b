/**
 * Decides when a Reboot goes on by the power switch: its agent is silent, or did not reboot the machine. A release of the agent is withdrawn
 * first, and the power is not touched before it has ended, so that no two reboot at the same time. Pure.
 */
import type { AgentStep, JobStep, JobStepStatus } from '../../../api/generated/types.ts';
import { answerOf, bootIdOf, isBegun, isOpenRecord, stepName } from '../../../api/status/step-records.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import type { JobInput } from '../observe/observe.ts';
import { powerStep } from '../power/power-records.ts';
import type { JobDecision } from './decision.ts';

/** The clock of an agent may be behind by this, as its own fence states it. */
const MAX_SKEW_MS = 30_000;
/** A release never lives longer. */
const MAX_RELEASE_MS = 60_000;
/** The share of its time that an agent has for a reboot, in which its host also boots. */
const AGENT_SHARE = 0.5;
const POLL_MS = 5000;

/** Tells whether an answer that would end the step leads to the switch. What an agent refuses is refused by a host that is alive. */
export function hasOtherWay(step: JobStep, { state }: AgentStep): boolean {
  return isReboot(step) && (state === 'Failed' || state === 'Ambiguous');
}

/** Undefined: the agent is asked, or is still given its time. */
export function planOtherWay(
  observation: JobInput,
  step: JobStep,
  before: JobStepStatus | undefined,
): JobDecision | undefined {
  const because = otherWayBecause(observation, step, before);
  const way = because === undefined ? undefined : powerStep(step)?.ways[0];
  if (because === undefined || way === undefined) return undefined;
  const open = isOpenRecord(before) ? before : firstRecord(observation, step, before);
  const notBefore = releaseEnd(observation, isOpenRecord(before) ? before : undefined).toISOString();
  const record: JobStepStatus = { ...open, state: 'Running', power: { way, desired: 'Off', notBefore } };
  return { type: 'Write', because, change: { step: record, release: null } };
}

function firstRecord(
  { job, node, now }: JobInput,
  { id }: JobStep,
  before: JobStepStatus | undefined,
): JobStepStatus {
  const tries = (before?.tries ?? 0) + 1;
  const bootIDBefore = bootIdOf(node) ?? job.spec.node.bootID;
  return { id, state: 'Running', tries, startedAt: now.toISOString(), bootIDBefore };
}

/** Waits for the end of a release that was withdrawn; undefined: it has ended. */
export function planFallback(
  { now }: JobInput,
  step: JobStep,
  record: JobStepStatus,
): JobDecision | undefined {
  const { notBefore = '' } = record.power ?? {};
  const because = `${step.step}: a release of the agent ends ${notBefore}`;
  const requeueAt = new Date(Math.min(Date.parse(notBefore), now.getTime() + POLL_MS));
  if (!(Date.parse(notBefore) > now.getTime())) return undefined;
  return { type: 'Wait', because, change: { wait: { reason: 'Power', message: because } }, requeueAt };
}

function isReboot(step: JobStep): boolean {
  return stepName(step) === 'Reboot' && powerStep(step) !== undefined;
}

function otherWayBecause(
  observation: JobInput,
  step: JobStep,
  before: JobStepStatus | undefined,
): string | undefined {
  if (!isReboot(step)) return undefined;
  const via = step.with?.['via'];
  const isForAgent = Array.isArray(via) && via.some((way) => way === 'Agent' || way === 'SysRq');
  if (!isForAgent) return `${step.step}: the agent is not among the ways`;
  const answer = isOpenRecord(before) ? answerOf(observation.job, before) : undefined;
  if (answer) return answeredBecause(observation, step, answer);
  return isAgentSilent(observation) ? `${step.step}: the agent is silent` : undefined;
}

function answeredBecause({ now }: JobInput, step: JobStep, answer: AgentStep): string | undefined {
  if (hasOtherWay(step, answer)) return `${step.step}: the agent reports ${answer.code ?? answer.state}`;
  if (!isBegun(answer)) return undefined;
  const shareMs = step.timeoutSeconds * AGENT_SHARE * 1000;
  if (Date.parse(answer.startedAt ?? '') + shareMs > now.getTime()) return undefined;
  return `${step.step}: no new boot ${shareMs / 1000} s after the agent began`;
}

/** The machine controller judges it by its own clock. */
function isAgentSilent({ machine }: JobInput): boolean {
  return conditionOf(machine?.status?.conditions, 'AgentReady')?.status === 'Unknown';
}

/** Returns when no release of this try permits anything any more. One that was withdrawn may be the last that a silent agent has read. */
function releaseEnd({ job, now }: JobInput, open: JobStepStatus | undefined): Date {
  if (!open) return now;
  const answer = answerOf(job, open);
  if (answer && (isBegun(answer) || answer.state !== 'Running')) return now;
  const notAfter = job.status?.release?.notAfter;
  const endMs = notAfter === undefined ? now.getTime() + MAX_RELEASE_MS : Date.parse(notAfter);
  return new Date(endMs + MAX_SKEW_MS);
}
