/** Finds what a job must not leave when no fault is left, long after the last one. Pure. */
import { DEFENDER_LEDGERS, MACHINES, REMEDY_OPERATION_JOBS } from '../../../../api/generated/resources.ts';
import type { RemedyOperationJob } from '../../../../api/generated/types.ts';
import { ANNOTATION_CORDONED_BY, ANNOTATION_OWNED, FINALIZER_SETTLE, LEDGER } from '../../../../api/names.ts';
import { conditionStatus } from '../../../../kube/objects/conditions.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { SimulatedApi } from '../../../api-server/simulated-api.ts';

export interface Leftover {
  readonly machine: string;
  readonly what: string;
}

export function leftoverViolations(api: Pick<SimulatedApi, 'get' | 'list'>): readonly Leftover[] {
  const jobs = api.list(REMEDY_OPERATION_JOBS);
  const grants = new Set(jobs.map(({ spec }) => spec.grant.id));
  return [...jobs.flatMap(unfinished), ...markedNodes(api, grants), ...openGrants(api), ...openCases(api)];
}

function unfinished({ metadata, spec, status }: RemedyOperationJob): readonly Leftover[] {
  const isOver = status?.outcome !== undefined && !(metadata.finalizers ?? []).includes(FINALIZER_SETTLE);
  const { phase = 'Pending' } = status ?? {};
  return isOver ? [] : [{ machine: spec.machine.name, what: `job ${metadata.name} does not end: ${phase}` }];
}

function markedNodes(api: Pick<SimulatedApi, 'list'>, grants: ReadonlySet<string>): readonly Leftover[] {
  return api.list(NODES).flatMap(({ metadata: { name, annotations = {} } }) => {
    const isCordoned = grants.has(annotations[ANNOTATION_CORDONED_BY] ?? '');
    const isTainted = [...grants].some((grant) =>
      (annotations[ANNOTATION_OWNED] ?? '').includes(`"${grant}"`),
    );
    return [
      ...(isCordoned ? [{ machine: name, what: 'the cordon of a job is left' }] : []),
      ...(isTainted ? [{ machine: name, what: 'a taint of a job is left' }] : []),
    ];
  });
}

function openGrants(api: Pick<SimulatedApi, 'get'>): readonly Leftover[] {
  const { grants = {} } = api.get(DEFENDER_LEDGERS, LEDGER)?.spec ?? {};
  return Object.entries(grants)
    .filter(([, { holder, state }]) => holder.kind === 'RemedyOperationJob' && state !== 'Settled')
    .map(([machine]) => ({ machine, what: 'the grant of a job is left' }));
}

function openCases(api: Pick<SimulatedApi, 'list'>): readonly Leftover[] {
  return api
    .list(MACHINES)
    .filter(({ status }) => conditionStatus(status?.conditions, 'NeedsPerson') === 'True')
    .map(({ metadata }) => ({ machine: metadata.name, what: 'a person is asked for, and no fault is left' }));
}
