/** Decides what a report of a hardware system changes: an event is created, continued, or left as it is. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { Machine, MaintenanceEvent } from '../../../api/generated/types.ts';
import { isFinalState, type MaintenanceState } from '../../../api/machine/maintenance-events.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import { ANNOTATION_REPORTED_AT, LABEL_MACHINE } from '../../../api/names.ts';
import { API_VERSION } from '../../../api/version.ts';
import { secondsAfter } from '../../../os/dates.ts';
import type { EventIdentity } from '../poll/identity.ts';
import type { MaintenanceReport } from './parse.ts';

export interface HardwareReportInput {
  readonly report: MaintenanceReport;
  /** When the sender made the report: of two reports the later one counts, in whatever order they arrive. */
  readonly reportedAt: Date;
  readonly machine: Pick<Machine, 'metadata' | 'spec'>;
  readonly identity: EventIdentity;
  /** The event of this name; undefined: not found. */
  readonly before: MaintenanceEvent | undefined;
  readonly now: Date;
}

/** Refused: the sender has to change something. Unchanged and Ignored: nothing is written. */
export type ReportPlan = ReportWrite | UnwrittenReport;

export interface ReportWrite {
  readonly type: 'Create' | 'Update';
  readonly event: MaintenanceEvent;
}

export interface UnwrittenReport {
  readonly type: 'Unchanged' | 'Ignored' | 'Refused';
  readonly because: string;
}

/** An event that ended longer ago was deleted again: a file that still reports it does not bring it back. */
const KEEP_SECONDS = 1_209_600;
const RANKS: readonly MaintenanceState[] = ['Inquiring', 'Scheduled', 'Executing'];

export function planReport(input: HardwareReportInput): ReportPlan {
  const { before, report, reportedAt, now } = input;
  if (before) return planChange(input, before);
  if (isFinalState(report.state) && secondsAfter(reportedAt, KEEP_SECONDS) <= now) {
    return { type: 'Ignored', because: `event ${report.eventID} ended long ago` };
  }
  return { type: 'Create', event: eventOf(input) };
}

function planChange(input: HardwareReportInput, before: MaintenanceEvent): ReportPlan {
  const because = refusalReason(input, before);
  if (because !== undefined) return { type: 'Refused', because };
  const event = eventOf(input);
  if (isDeepStrictEqual(event.spec, before.spec)) {
    return { type: 'Unchanged', because: `MaintenanceEvent ${event.metadata.name} has this content already` };
  }
  const later = laterReason(input, before);
  if (later !== undefined) return { type: 'Ignored', because: later };
  return { type: 'Update', event: { ...before, ...event, metadata: mergedMetadata(before, event) } };
}

/** Returns why the event cannot get this report. */
function refusalReason(
  { report }: HardwareReportInput,
  { metadata, spec }: MaintenanceEvent,
): string | undefined {
  const name = `MaintenanceEvent ${metadata.name}`;
  if (metadata.annotations?.[ANNOTATION_REPORTED_AT] === undefined) {
    return `${name} was reported by another reporter: use another eventID`;
  }
  if (spec.type !== report.type) {
    return `${name} has the type ${spec.type}, which cannot change: report ${report.type} with another eventID`;
  }
  if (!isFinalState(spec.state) || spec.state === report.state) return undefined;
  return `${name} is ${spec.state}, and an event that ended cannot begin again: use another eventID`;
}

/** Two reports of one second are told apart by their states, because the time of a delivery has whole seconds. */
function laterReason(
  { report, reportedAt }: HardwareReportInput,
  before: MaintenanceEvent,
): string | undefined {
  const { metadata, spec } = before;
  const last = parseTime(metadata.annotations?.[ANNOTATION_REPORTED_AT]);
  if (!last || reportedAt > last) return undefined;
  if (+reportedAt === +last && rankOf(report.state) > rankOf(spec.state)) return undefined;
  return `MaintenanceEvent ${metadata.name} has a report of ${last.toISOString()}, and this one is of ${reportedAt.toISOString()}`;
}

function rankOf(state: MaintenanceState): number {
  const rank = RANKS.indexOf(state);
  return rank < 0 ? RANKS.length : rank;
}

function eventOf({ report, reportedAt, machine, identity }: HardwareReportInput): MaintenanceEvent {
  return {
    apiVersion: API_VERSION,
    kind: 'MaintenanceEvent',
    metadata: {
      name: identity.name,
      // Without the label of polled events: no poll of a provider ends it.
      labels: { [LABEL_MACHINE]: machine.metadata.name },
      annotations: { [ANNOTATION_REPORTED_AT]: reportedAt.toISOString() },
    },
    spec: { ...report, provider: machine.spec.infra.provider, eventID: identity.eventID },
  };
}

function mergedMetadata(
  { metadata: before }: MaintenanceEvent,
  { metadata }: MaintenanceEvent,
): MaintenanceEvent['metadata'] {
  return {
    ...before,
    labels: { ...before.labels, ...metadata.labels },
    annotations: { ...before.annotations, ...metadata.annotations },
  };
}
