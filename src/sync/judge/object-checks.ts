/**
 * Checks every object of a render: no fields that the server or our controllers write, no owner labels, no object declared
 * twice, no rule that fails its own tests. The schema check and the rule tests are arguments.
 */
import { setImmediate } from 'node:timers/promises';
import { inactiveFields, inactiveFieldText } from '../../api/inactive/find.ts';
import { installedReason } from '../../api/install/owned.ts';
import {
  ANNOTATION_ADOPTED,
  ANNOTATION_COMMIT,
  ANNOTATION_SECRET_USE,
  GROUP,
  KILL_SWITCH,
  LABEL_HOST_POOL,
  LABEL_HUB,
  LABEL_UNIT,
  NAMESPACE,
  NAMESPACE_AGENTS,
  NAMESPACE_AUDIT,
  NAMESPACE_HOSTS,
} from '../../api/names.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { listAt, ownValue, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { mergeProblems } from '../../rules/problems.ts';
import { isPipelineId } from '../protected-kinds.ts';
import {
  HUB_TARGET,
  type Rendered,
  type RenderedObject,
  type RenderedTarget,
  sourceText,
} from '../rendered.ts';
import { encryptionProblems } from './encrypted.ts';
import { expressionProblems } from './expressions.ts';
import { identityRefusals } from './identities.ts';
import { nameProblems } from './names.ts';
import { createReferenceCheck } from './references.ts';
import type { Refusal } from './refusal.ts';
import { unitRefusals } from './unit-refusals.ts';

export interface ObjectChecks {
  /** Returns the schema errors of our own kinds. Empty for all other kinds. */
  readonly schema: (object: KubeObject) => readonly Problem[];
  /** Returns the compile errors and failing tests of the rule of a NodeRemedier. Empty for all other kinds. */
  readonly ruleTests: (object: KubeObject) => Promise<readonly Problem[]>;
  /** Problems of an object beside the others of its target: of a policy beside `fleet-default`. */
  readonly beside?: (objects: Iterable<KubeObject>) => (object: KubeObject) => readonly Problem[];
}

/**
 * The most refusals that are returned: as many as anyone can act on. A commit may have millions, and each takes some 400 bytes:
 * the search ends here.
 */
export const MAX_REFUSALS = 10_000;

/** Finds the refusals of all targets, at most MAX_REFUSALS. */
export async function findAllRefusals(
  { targets }: Pick<Rendered, 'targets'>,
  checks: ObjectChecks,
): Promise<readonly Refusal[]> {
  const found: Refusal[] = [];
  addUpTo(MAX_REFUSALS, found, identityRefusals({ targets }));
  for (const target of targets) {
    addUpTo(MAX_REFUSALS, found, await findRefusals(target, checks));
    if (found.length >= MAX_REFUSALS) break;
  }
  return found;
}

/** Finds the refusals of all objects at once, at most MAX_REFUSALS. Without one the target may be applied. */
export async function findRefusals(target: RenderedTarget, checks: ObjectChecks): Promise<Refusal[]> {
  const found: Refusal[] = [];
  addUpTo(MAX_REFUSALS, found, unitRefusals(target));
  await findObjectRefusals(target, checksOf(target, checks), found);
  return found;
}

/** Adds the refusals one by one, not as arguments of one call: there may be more of them than a stack holds. */
function addUpTo(limit: number, found: Refusal[], more: Iterable<Refusal>): void {
  for (const refusal of more) {
    if (found.length >= limit) return;
    found.push(refusal);
  }
}

function checksOf(target: RenderedTarget, checks: ObjectChecks): ObjectChecks {
  const references = createReferenceCheck(contentOf(target));
  const beside = checks.beside?.(contentOf(target));
  const schema: ObjectChecks['schema'] = (object) => [
    ...checks.schema(object),
    ...references(object),
    ...(isPipelineId(objectIdOf(object)) ? expressionProblems(object) : []),
    ...(beside?.(object) ?? []),
  ];
  return { ...checks, schema };
}

/**
 * A render has up to 100,000 objects. Between slices the process answers its parent, and a command shows its progress: a Cluster
 * takes 28 µs, so a slice takes some 15 ms.
 */
const SLICE = 500;

async function findObjectRefusals(
  target: RenderedTarget,
  checks: ObjectChecks,
  found: Refusal[],
): Promise<void> {
  const declared = new Map<string, { unit: string; source: string }>();
  let checked = 0;
  for (const { unit, rendered } of objectsOf(target)) {
    if (found.length >= MAX_REFUSALS) return;
    checked += 1;
    if (checked % SLICE === 0) await setImmediate();
    const object = objectKey(objectIdOf(rendered.object));
    const source = sourceText(rendered.source);
    const first = declared.get(object);
    declared.set(object, first ?? { unit, source });
    const duplicate = first ? [`declared twice: also in unit ${first.unit}, ${first.source}`] : [];
    const messages = [...duplicate, ...(await problemsOf(target.target, rendered, checks))];
    const refusals = messages.map((message) => ({ target: target.target, unit, object, source, message }));
    addUpTo(MAX_REFUSALS, found, refusals);
  }
}

function* objectsOf({ units }: RenderedTarget): Generator<{ unit: string; rendered: RenderedObject }> {
  for (const { unit, objects } of units) for (const rendered of objects) yield { unit, rendered };
}

function* contentOf(target: RenderedTarget): Generator<KubeObject> {
  for (const { rendered } of objectsOf(target)) yield rendered.object;
}

async function problemsOf(
  target: string,
  { object }: RenderedObject,
  checks: ObjectChecks,
): Promise<string[]> {
  const own = object.apiVersion.startsWith(`${GROUP}/`);
  const problems = mergeProblems(await checks.ruleTests(object), checks.schema(object));
  return [
    ...nameProblems(object),
    ...serverFields(object),
    ...ownerLabels(object),
    ...secretPermission(object),
    ...reservedObjects(object),
    ...encryptionProblems(object),
    ...(own ? [...misplaced(target, object), ...controllerFields(object)] : []),
    ...inactiveFields(object).map(inactiveFieldText),
    ...problems.map(({ path, message }) => `${path}: ${message}`),
  ];
}

const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'selfLink',
];

function serverFields(object: KubeObject): string[] {
  const found = SERVER_METADATA.filter((field) => valueAt(object, 'metadata', field) !== undefined);
  const status = valueAt(object, 'status') === undefined ? [] : ['status'];
  const fields = [...found.map((field) => `metadata.${field}`), ...status];
  const named =
    valueAt(object, 'metadata', 'generateName') === undefined
      ? []
      : ['metadata.generateName: an object in git needs a fixed name: set metadata.name'];
  return [...fields.map((field) => `${field}: set by the server: remove it`), ...named];
}

function ownerLabels({ metadata }: KubeObject): string[] {
  const labels = [LABEL_HUB, LABEL_UNIT].filter((key) => metadata.labels?.[key] !== undefined);
  const annotations = [ANNOTATION_COMMIT, ANNOTATION_ADOPTED].filter(
    (key) => metadata.annotations?.[key] !== undefined,
  );
  return [...labels, ...annotations].map((key) => `${key}: set by sync: remove it`);
}

/** Refuses the annotation that permits the use of a Secret. Otherwise a commit could permit itself a Secret. */
function secretPermission({ metadata }: KubeObject): string[] {
  if (metadata.annotations?.[ANNOTATION_SECRET_USE] === undefined) return [];
  return [`${ANNOTATION_SECRET_USE}: set by a person with kubectl, never by a commit: remove it`];
}

/** Refuses objects that `kubenode install`, sync and the controllers maintain themselves. */
function reservedObjects(object: KubeObject): string[] {
  const { kind, metadata } = object;
  const because = installedReason(object);
  if (because !== undefined) {
    return [`${because}: remove it from git, or give it another name`];
  }
  const reserved = reservedNamespace(object);
  if (reserved !== undefined) return [reserved];
  if (metadata.namespace !== NAMESPACE) return [];
  const ours = kind === 'Lease' || (kind === 'ConfigMap' && INVENTORY.test(metadata.name));
  return ours
    ? [`${kind} ${metadata.name} in ${NAMESPACE} is reserved for kubenode: choose another name`]
    : [];
}

function reservedNamespace(object: KubeObject): string | undefined {
  const { namespace } = object.metadata;
  if (namespace === NAMESPACE_AGENTS) {
    return `namespace ${NAMESPACE_AGENTS} is reserved for the Leases of agents: use another namespace`;
  }
  if (namespace === NAMESPACE_AUDIT) {
    return `namespace ${NAMESPACE_AUDIT} is reserved for the audit record: use another namespace`;
  }
  if (namespace !== NAMESPACE_HOSTS || isHostPool(object)) return undefined;
  return `namespace ${NAMESPACE_HOSTS} is reserved for pools of hosts: ConfigMaps with the label ${LABEL_HOST_POOL}`;
}

function isHostPool({ kind, metadata }: KubeObject): boolean {
  return kind === 'ConfigMap' && metadata.labels?.[LABEL_HOST_POOL] !== undefined;
}

/** Matches the names of the ConfigMaps of an inventory: `inventory`, `inventory.fleet`, `inventory-web-0`. */
const INVENTORY = /^inventory($|[.-])/;

const HUB_KINDS = ['Cluster', 'Pipeline'];
/** Controllers write these kinds: git would be a second writer. */
const CONTROLLER_KINDS = [
  'Release',
  'RemedyOperationJob',
  'MaintenanceEvent',
  'DefenderLedger',
  'FleetAllowance',
];

/** The commands that create a policy of this name, by its kind. */
const RESERVING: Readonly<Record<string, string>> = { DefenderPolicy: 'defender', FleetPolicy: 'fleet' };

function misplaced(target: string, { kind, metadata }: KubeObject): string[] {
  if (CONTROLLER_KINDS.includes(kind)) return [`${kind} is written by its controller: remove it from git`];
  if (HUB_KINDS.includes(kind) && target !== HUB_TARGET) {
    return [`${kind} belongs in the hub: declare it there, not in cluster ${target}`];
  }
  const reserving = RESERVING[kind];
  if (reserving !== undefined && metadata.name === KILL_SWITCH) {
    return [`the name ${KILL_SWITCH} is reserved for \`kubenode ${reserving} stop\`: choose another name`];
  }
  return [];
}

/** Fields of objects of git that a command or a controller writes. */
const FIELDS_OF_OTHERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Pipeline: {
    halt: 'written by `kubenode release halt`: remove it. To pause in git, set spec.paused',
    acceptedHead: 'written by `kubenode release accept-head`: remove it',
  },
  Cluster: { rollback: 'written by `kubenode rollback`: remove it. To go back in git, revert the commit' },
  Machine: { components: 'written by the component set controller: use a MachineComponentSet' },
};

function controllerFields(object: KubeObject): string[] {
  const fields = Object.entries(ownValue(FIELDS_OF_OTHERS, object.kind) ?? {});
  const found = fields.filter(([field]) => valueAt(object, 'spec', field) !== undefined);
  return [...found.map(([field, message]) => `spec.${field}: ${message}`), ...pauses(object)];
}

function pauses(object: KubeObject): string[] {
  if (object.kind !== 'Cluster' || listAt(object, 'spec', 'pauses').length === 0) return [];
  return ['spec.pauses: written by `kubenode release halt`: remove it. To pause in git, set spec.paused'];
}
