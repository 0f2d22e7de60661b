/** Reports of hardware systems for tests: valid by default. */
import { MACHINES, MAINTENANCE_EVENTS } from '../../../../src/api/generated/resources.ts';
import type { MaintenanceEvent } from '../../../../src/api/generated/types.ts';
import {
  createReportRecorder,
  type ReportRecorder,
} from '../../../../src/controllers/hostdoctor/report/execute.ts';
import type { MaintenanceReport } from '../../../../src/controllers/hostdoctor/report/parse.ts';
import { SECRETS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../src/sim/api-server/kinds.ts';
import { machine } from '../../../support/builders.ts';
import { createMemoryApi, type MemoryApi } from '../../../support/controller/memory-api.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

/** The reboot of m-1 in an hour. */
export function hardwareReport(changes: Partial<MaintenanceReport> = {}): MaintenanceReport {
  return {
    eventID: 'psu-7',
    machine: 'm-1',
    type: 'Reboot',
    state: 'Scheduled',
    hint: false,
    notBefore: '2030-01-01T13:00:00Z',
    ...changes,
  };
}

export interface ReportBed {
  readonly clock: VirtualClock;
  readonly api: MemoryApi;
  readonly client: ReturnType<ReturnType<MemoryApi['connection']>['client']>;
  readonly recorder: ReportRecorder;
  /** `eventID state` by the name of its MaintenanceEvent. */
  readonly events: () => Readonly<Record<string, string>>;
  readonly read: (name: string) => MaintenanceEvent;
  readonly add: (object: KubeObject) => void;
  readonly remove: (event: string) => void;
}

const KINDS = [MACHINES, MAINTENANCE_EVENTS].map(servedKind);

/** An API server with the Machines m-1 and m-2. */
export function reportBed(): ReportBed {
  const clock = virtualClock();
  const api = createMemoryApi({ clock, kinds: [...KINDS, { resource: SECRETS }] });
  const kindOf = (kind: string): (typeof KINDS)[number] => {
    const found = [...KINDS, { resource: SECRETS }].find(({ resource }) => resource.kind === kind);
    if (!found) throw new Error(`no kind ${kind}`);
    return found;
  };
  const add = (object: KubeObject): void => {
    api.objects.create(kindOf(object.kind), object, { manager: 'person' });
  };
  for (const name of ['m-1', 'm-2']) add({ ...machine(name), metadata: { name } });
  const client = api.connection().client();
  const list = (): readonly MaintenanceEvent[] =>
    api.objects.list(kindOf(MAINTENANCE_EVENTS.kind), undefined) as readonly MaintenanceEvent[];
  return {
    clock,
    api,
    client,
    add,
    remove: (name) => void api.objects.delete(kindOf(MAINTENANCE_EVENTS.kind), { name }),
    recorder: createReportRecorder(client),
    events: () =>
      Object.fromEntries(
        list().map(({ metadata, spec }) => [metadata.name, `${spec.eventID} ${spec.state}`]),
      ),
    read: (name) => api.objects.get(kindOf(MAINTENANCE_EVENTS.kind), { name }) as MaintenanceEvent,
  };
}
