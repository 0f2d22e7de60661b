/**
 * Grants that objects in the API server carry: jobs, component entries, drains and our cordons. From them a ledger that was
 * lost is rebuilt, and one that was restored is recognized. Pure.
 */
import type { Risk } from '../../api/enums.ts';
import type {
  JobStep,
  LedgerGrant,
  Machine,
  MachineComponentEntry,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { isObserved, reportOf } from '../../api/machine/entry-report.ts';
import { ANNOTATION_CORDONED_BY } from '../../api/names.ts';
import { stepOfReference } from '../../api/steps/steps.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { LiveGrant } from '../ledger/recover.ts';

/** The longest life of a grant: an object that carries only its end was granted at most this long before. */
const GRANT_SECONDS = 300;
/** States of a component between two versions. */
const IN_WORK: ReadonlySet<string> = new Set(['WaitingForDrain', 'Activating', 'Probation', 'RollingBack']);
const GIVEN_UP: ReadonlySet<string> = new Set(['RolledBack', 'Failed']);
const GRANT_ID = /^g-(?<seq>\d+)-\d+$/;

export function jobGrants(job: RemedyOperationJob): readonly LiveGrant[] {
  const { spec, status, metadata } = job;
  const { machine, grant, risk, cause, plan, node } = spec;
  const { id, fence, issuedAt, notAfter } = grant;
  const entry: LedgerGrant = {
    id,
    fence,
    state: 'Started',
    holder: {
      kind: 'RemedyOperationJob',
      name: metadata.name,
      origin: `NodeRemedier/${cause.remedier}`,
      ...optional('revision', cause.commit),
    },
    action: actionOf(plan, risk),
    risk,
    nodeUID: node.uid,
    issuedAt,
    notAfter: laterOf(notAfter, status?.grant?.notAfter),
  };
  // Executors remember the fence of a job that ended: a ledger that was lost continues above it.
  return [{ machine: machine.name, entry, isInWork: hasJobBegun(job) && !isEndedJob(job) }];
}

/** As it was asked for: the first step of the highest risk, without its version. */
function actionOf(plan: readonly JobStep[], risk: Risk): string {
  const reference = plan.find((step) => step.risk === risk)?.step ?? '';
  return stepOfReference(reference) ?? 'HandOff';
}

/** A job whose outcome is written does nothing more. */
export function isEndedJob({ status }: RemedyOperationJob): boolean {
  return status?.outcome !== undefined;
}

/** Tells whether a step of the job may have run. */
export function hasJobBegun({ status }: RemedyOperationJob): boolean {
  return (
    status?.release !== undefined ||
    (status?.steps ?? []).some(({ state }) => state !== 'Pending' && state !== 'Skipped')
  );
}

export function machineGrants(machine: Machine): readonly LiveGrant[] {
  const { spec, status, metadata } = machine;
  const components = spec.components.flatMap((component) => {
    const entry = componentGrant(machine, component);
    return entry ? [{ machine: metadata.name, entry, isInWork: isComponentInWork(machine, component) }] : [];
  });
  return [...components, ...markedGrants(metadata.name, status?.drain?.grant)];
}

export function nodeGrants({ metadata: { name, annotations } }: KubeObject): readonly LiveGrant[] {
  // A kubelet may write annotations of its own Node.
  return markedGrants(name, annotations?.[ANNOTATION_CORDONED_BY]).map((grant) => ({
    ...grant,
    isForgeable: true,
  }));
}

/** The agent reports that it is between two versions. */
function isComponentInWork(machine: Machine, entry: MachineComponentEntry): boolean {
  return IN_WORK.has(reportOf(machine, entry)?.state ?? '');
}

export function isComponentEnded(machine: Machine, entry: MachineComponentEntry): boolean {
  if (!isObserved(machine)) return false;
  const { state = 'Absent', digest } = reportOf(machine, entry) ?? {};
  if (entry.state === 'Absent') return state === 'Absent';
  return state === 'Committed' ? digest === entry.digest : GIVEN_UP.has(state);
}

function componentGrant(
  { metadata, status }: Machine,
  { assignment, grant }: MachineComponentEntry,
): LedgerGrant | undefined {
  if (!grant) return undefined;
  const { id, fence, notAfter } = grant;
  const set = assignment?.set;
  const kind = set === undefined ? 'Machine' : 'MachineComponentSet';
  const name = set ?? metadata.name;
  return {
    id,
    fence,
    state: 'Started',
    holder: { kind, name, origin: `${kind}/${name}`, ...optional('revision', assignment?.revision) },
    action: 'UpdateComponent',
    // The entry does not record it: the highest risk that an update can have.
    risk: 'Node',
    ...optional('nodeUID', status?.node?.uid),
    issuedAt: new Date(Date.parse(notAfter) - GRANT_SECONDS * 1000).toISOString(),
    notAfter,
  };
}

/** A mark names only the grant: it shows that the ledger has been at its fence, and not that the act is in work. */
function markedGrants(machine: string, id: string | undefined): readonly LiveGrant[] {
  const fence = Number(GRANT_ID.exec(id ?? '')?.groups?.['seq'] ?? Number.NaN);
  if (id === undefined || !Number.isSafeInteger(fence)) return [];
  const holder = { kind: 'Other', name: 'unknown' } as const;
  const times = { issuedAt: EPOCH, notAfter: EPOCH };
  const entry: LedgerGrant = {
    id,
    fence,
    state: 'Started',
    holder,
    action: 'Cordon',
    risk: 'None',
    ...times,
  };
  return [{ machine, entry, isInWork: false }];
}

const EPOCH = '1970-01-01T00:00:00.000Z';

function laterOf(a: string, b: string | undefined): string {
  return b !== undefined && Date.parse(b) > Date.parse(a) ? b : a;
}
