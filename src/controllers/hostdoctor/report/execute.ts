/**
 * Records the reports of hardware systems as MaintenanceEvents. Several processes may record reports of one event at the same time: each
 * write is a compare-and-swap, so the later report counts.
 */
import { MACHINES, MAINTENANCE_EVENTS } from '../../../api/generated/resources.ts';
import type { Machine, MaintenanceEvent } from '../../../api/generated/types.ts';
import { MANAGER_HOSTDOCTOR } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../kube/client/errors.ts';
import { type EventIdentity, eventIdentity, identityOnInstance } from '../poll/identity.ts';
import type { MaintenanceReport } from './parse.ts';
import { planReport, type ReportWrite, type UnwrittenReport } from './plan.ts';

export interface ReportRequest {
  readonly report: MaintenanceReport;
  readonly reportedAt: Date;
  readonly now: Date;
  readonly signal?: AbortSignal;
}

export type HardwareReportOutcome =
  | { readonly type: 'Recorded'; readonly event: string }
  | { readonly type: 'UnknownMachine'; readonly because: string }
  | UnwrittenReport;

export interface ReportRecorder {
  /** Resolves when the event is written. Rejects with a KubeError when the API server does not answer. */
  record(request: ReportRequest): Promise<HardwareReportOutcome>;
}

type ReportClient = Pick<Client, 'get' | 'create' | 'replace'>;

/** More writers of one event at the same moment are a fault of a sender. */
const MAX_TRIES = 4;

export function createReportRecorder(client: ReportClient): ReportRecorder {
  return {
    async record(request) {
      for (let left = MAX_TRIES; ; left -= 1) {
        try {
          return await attempt(request, client); // oxlint-disable-line no-await-in-loop -- one try after the other
        } catch (error) {
          const isRefused = isKubeError(error, 'Invalid');
          if (isRefused) return { type: 'Refused', because: error.message };
          if (left <= 1 || !isKubeError(error, 'Conflict', 'AlreadyExists')) throw error;
        }
      }
    },
  };
}

async function attempt(request: ReportRequest, client: ReportClient): Promise<HardwareReportOutcome> {
  const { report, signal } = request;
  const options = signal ? { signal } : {};
  const machine = await unlessMissing(client.get<Machine>(MACHINES, { name: report.machine }, options));
  if (!machine) {
    return {
      type: 'UnknownMachine',
      because: `Machine ${report.machine} does not exist: check the field machine`,
    };
  }
  const { identity, before } = await findEvent(machine, report.eventID, (name) =>
    unlessMissing(client.get<MaintenanceEvent>(MAINTENANCE_EVENTS, { name }, options)),
  );
  const plan = planReport({ ...request, machine, identity, before });
  return 'event' in plan ? await write(plan, client, options) : plan;
}

interface FoundEvent {
  readonly identity: EventIdentity;
  readonly before: MaintenanceEvent | undefined;
}

/** One event may concern several machines. The first one has the short name, for as long as its object exists. */
async function findEvent(
  { metadata, spec }: Machine,
  eventId: string,
  read: (name: string) => Promise<MaintenanceEvent | undefined>,
): Promise<FoundEvent> {
  const first = eventIdentity(spec.infra.provider, eventId);
  const own = identityOnInstance(first, metadata.name);
  const [short, long] = await Promise.all([read(first.name), read(own.name)]);
  const isTaken = short !== undefined && short.spec.machine !== metadata.name;
  return long || isTaken ? { identity: own, before: long } : { identity: first, before: short };
}

/** Rejects with Conflict or AlreadyExists when another report was written since the event was read. */
async function write(
  { type, event }: ReportWrite,
  client: ReportClient,
  options: { readonly signal?: AbortSignal },
): Promise<HardwareReportOutcome> {
  const how = { ...options, fieldManager: MANAGER_HOSTDOCTOR };
  if (type === 'Create') await client.create(MAINTENANCE_EVENTS, event, how);
  else await client.replace(MAINTENANCE_EVENTS, event, how);
  return { type: 'Recorded', event: event.metadata.name };
}
