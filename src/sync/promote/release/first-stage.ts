/** Tells how long it took from a push until its first stage began. Pure. */
import type { Pipeline, ReleaseStage } from '../../../api/generated/types.ts';
import type { HeadReport } from '../../commits.ts';
import type { ReleaseUpdate } from './plan.ts';

export interface FirstStageInput {
  readonly pipeline: Pipeline;
  readonly head: HeadReport;
  readonly update: ReleaseUpdate;
}

/** A push is read within one poll; one whose webhook came long before was pushed to another branch, or could not be read. */
const WEBHOOK_MS = 300_000;

/**
 * Returns the seconds from when sync heard of the commit until its first stage began; undefined unless it begins with this update. What
 * waits by choice, for a window or an approval, is not counted.
 */
export function firstStageDelay({ pipeline, head, update }: FirstStageInput): number | undefined {
  const heardAt = head.commit === update.release.spec.commit ? heardOf(pipeline, head) : undefined;
  const beganAt = firstBegin(update);
  if (heardAt === undefined || beganAt === undefined) return undefined;
  return Math.max(0, (beganAt - heardAt) / 1000);
}

function firstBegin({ release, status }: ReleaseUpdate): number | undefined {
  const startedAt = status.stages?.[0]?.startedAt;
  if (startedAt === undefined || !canBegin(release.status?.stages?.[0])) return undefined;
  return Date.parse(startedAt);
}

/** It did not begin before, and did not wait by choice. */
function canBegin(stage: ReleaseStage | undefined): boolean {
  return stage?.startedAt === undefined && stage?.state !== 'Waiting';
}

function heardOf({ status }: Pipeline, head: HeadReport): number | undefined {
  const times = [recordedAt(status, head), head.observedAt?.getTime()].filter((time) => time !== undefined);
  if (times.length === 0) return undefined;
  const observedMs = Math.min(...times);
  const webhookMs = observedMs - Date.parse(status?.webhook?.receivedAt ?? '');
  return webhookMs > 0 && webhookMs <= WEBHOOK_MS ? observedMs - webhookMs : observedMs;
}

/** Another process may have observed the head first. */
function recordedAt(status: Pipeline['status'], { commit }: HeadReport): number | undefined {
  const time = status?.head?.commit === commit ? Date.parse(status?.head?.seenAt ?? '') : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
