/**
 * Lists the planned maintenance that Azure announces centrally: an event of Service Health names the virtual machines that it concerns, and the
 * instance view of each names its window. What only the metadata service of a host announces is not read here.
 */
import { z } from 'zod';
import { ownEvents } from '../cloud/own-instances.ts';
import { type InstanceEvent, ProviderError } from '../contract.ts';
import { listPages } from './api/pages.ts';
import type { AzureVm } from './instance.ts';
import type { AzureParts } from './parts.ts';
import { type AzurePlace, formatAzureId, isVmName, vmPath } from './place.ts';

type EventParts = Pick<AzureParts, 'api' | 'lookup' | 'place'>;

const HEALTH_API = { 'api-version': '2022-10-01' } as const;
/** The documented filter. Type and status are compared here. */
const OF_MACHINES = { ...HEALTH_API, $filter: "service eq 'Virtual Machines'" } as const;

const healthEvent = z.object({
  name: z.string().regex(/^[\w.-]{1,128}$/),
  properties: z.object({
    eventType: z.string(),
    status: z.string(),
    impactStartTime: z.string().optional(),
  }),
});
type HealthEvent = z.infer<typeof healthEvent>;

/** One that names no resource concerns something else than a virtual machine. */
const impacted = z.object({ properties: z.object({ targetResourceId: z.string().optional() }) });

/** While nothing is planned, that is one request. */
export async function listEvents(parts: EventParts, signal: AbortSignal): Promise<readonly InstanceEvent[]> {
  signal.throwIfAborted();
  const { api, place } = parts;
  const path = `/subscriptions/${place.subscription}/providers/Microsoft.ResourceHealth/events`;
  const all = (await listPages(api, { path, query: OF_MACHINES }, signal)).map((each) =>
    read(healthEvent, each),
  );
  const planned = all.filter(
    ({ properties }) => properties.eventType === 'PlannedMaintenance' && properties.status === 'Active',
  );
  const events = await Promise.all(planned.map((event) => listOfEvent(event, parts, signal)));
  return events.flat();
}

async function listOfEvent(
  event: HealthEvent,
  { api, place, lookup }: EventParts,
  signal: AbortSignal,
): Promise<readonly InstanceEvent[]> {
  const path = `/subscriptions/${place.subscription}/providers/Microsoft.ResourceHealth/events/${event.name}/impactedResources`;
  const entries = await listPages(api, { path, query: HEALTH_API }, signal);
  const ids = entries.flatMap(
    (each) => ownIdOf(read(impacted, each).properties.targetResourceId, place) ?? [],
  );
  const notices = [...new Set(ids)].map((instanceId) => readNotice(event, instanceId));
  const vms = new Map<string, AzureVm>();
  const ours = await ownEvents(notices, async (id) => {
    const found = await lookup.byId(id, signal);
    if (found) vms.set(id, found.vm);
    return found;
  });
  return ours.map((notice) => withWindow(notice, vms.get(notice.instanceId)));
}

/** Returns the id of an instance that may be ours: its name is one of those that this provider gives. */
function ownIdOf(resourceId: string | undefined, place: AzurePlace): string | undefined {
  const prefix = vmPath(place, '').toLowerCase();
  const path = resourceId?.toLowerCase() ?? '';
  const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
  return isVmName(name) ? formatAzureId(place, name) : undefined;
}

function readNotice({ name, properties }: HealthEvent, instanceId: string): InstanceEvent {
  return { eventId: name, instanceId, type: 'Other', ...timeOf(properties.impactStartTime) };
}

/** With a window, Azure moves the machine to another host and boots it there. Without one it did not say what happens. */
function withWindow(notice: InstanceEvent, vm: AzureVm | undefined): InstanceEvent {
  const window = vm?.properties.instanceView?.maintenanceRedeployStatus;
  if (!window) return notice;
  return { ...notice, type: 'Redeploy', ...timeOf(window.maintenanceWindowStartTime) };
}

function timeOf(text: string | undefined): { readonly notBefore?: Date } {
  const notBefore = new Date(text ?? '');
  return Number.isNaN(notBefore.getTime()) ? {} : { notBefore };
}

/** Throws for an entry that cannot be read: maintenance must not be overlooked in silence. */
function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const { data } = schema.safeParse(value);
  if (data !== undefined) return data;
  throw new ProviderError('Retryable', 'planned maintenance in the answer of Azure cannot be read', {
    reason: 'BadAnswer',
  });
}
