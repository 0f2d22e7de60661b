/** Decides which state of the Machine the agent accepts. What it does not accept changes nothing: the last one stays in force. Pure. */
import type { Machine, MachineComponentSpec } from '../../api/generated/types.ts';
import { ANNOTATION_HOLD, ANNOTATION_OWNER_HOLD } from '../../api/names.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';

export interface AcceptedState {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: Machine['spec'];
  /** The address of a host that was taken from a pool. Others have theirs in the spec. */
  readonly address?: string;
  /** The hold of a person, as `<until>; <reason>`. */
  readonly holdAnnotation?: string;
  /** Why the system that owns the instance forbids to disturb it. */
  readonly ownerHold?: string;
  /** The id of the grant for which the machine is drained. */
  readonly drainedFor?: string;
  /** The specs that the entries name, by the name of the MachineComponent. */
  readonly components: Readonly<Record<string, MachineComponentSpec>>;
}

export type Acceptance =
  | { readonly accepted: AcceptedState }
  | { readonly refused: string; readonly code: 'WrongMachine' | 'OldGeneration' | 'MissingComponent' };

export type ComponentSpecs = ReadonlyMap<string, MachineComponentSpec>;

export function acceptMachine(
  before: AcceptedState | undefined,
  machine: Machine,
  specs: ComponentSpecs,
): Acceptance {
  return refusal(before, machine, specs) ?? { accepted: acceptedState(machine, specs) };
}

function refusal(
  before: AcceptedState | undefined,
  { metadata: { name, uid = '', generation = 0 }, spec }: Machine,
  specs: ComponentSpecs,
): Acceptance | undefined {
  if (before && before.uid !== uid) {
    return {
      code: 'WrongMachine',
      refused: `the Machine ${name} has UID ${uid}, this host belongs to ${before.uid}: it was recreated`,
    };
  }
  if (before && generation < before.generation) {
    return {
      code: 'OldGeneration',
      refused: `the Machine is at generation ${generation}, ${before.generation} was accepted before`,
    };
  }
  const missing = neededRefs(spec).find((ref) => !specs.has(ref));
  if (missing === undefined) return undefined;
  return { code: 'MissingComponent', refused: `the MachineComponent ${missing} was not found` };
}

function acceptedState({ metadata, spec, status }: Machine, specs: ComponentSpecs): AcceptedState {
  const { name, uid = '', generation = 0, annotations } = metadata;
  const drain = status?.drain;
  return {
    name,
    uid,
    generation,
    spec,
    ...optional('address', pooledAddress(status)),
    ...optional('holdAnnotation', annotations?.[ANNOTATION_HOLD]),
    ...optional('ownerHold', annotations?.[ANNOTATION_OWNER_HOLD]),
    ...optional('drainedFor', drain?.state === 'Drained' ? drain.grant : undefined),
    components: Object.fromEntries(specs),
  };
}

/** The instances of provider ssh are hosts of pools. Other providers report addresses that may change with each start. */
function pooledAddress(status: Machine['status']): string | undefined {
  const { providerID, addresses = [] } = status?.infra ?? {};
  return providerID?.startsWith('ssh://') ? addresses[0]?.address : undefined;
}

/** Returns the refs of the entries that are to be installed: a removal needs no content. */
export function neededRefs({ components }: Machine['spec']): readonly string[] {
  return [
    ...new Set(components.filter(({ state }) => state === 'Present').map(({ componentRef }) => componentRef)),
  ];
}

/** Returns the specs that are known already: a MachineComponent never changes. */
export function knownSpecs(
  { components }: Machine['spec'],
  before: AcceptedState | undefined,
): ComponentSpecs {
  return new Map(
    components.flatMap(({ componentRef, digest }) => {
      const spec = before?.components[componentRef];
      return spec && digestOf(spec) === digest ? [[componentRef, spec] as const] : [];
    }),
  );
}

export function holdScope(
  { spec, holdAnnotation, ownerHold }: Pick<AcceptedState, 'spec' | 'holdAnnotation' | 'ownerHold'>,
  now: Date,
): 'None' | 'Disruptive' | 'All' {
  if (holdAnnotation !== undefined && isInForce(holdAnnotation.split(';')[0], now)) return 'All';
  const scope = spec.hold && isInForce(spec.hold.until, now) ? spec.hold.scope : 'None';
  return scope === 'None' && ownerHold !== undefined ? 'Disruptive' : scope;
}

/** Tells whether a hold is in force. An end that cannot be read holds for ever: in doubt nothing is done. */
function isInForce(until: string | undefined, now: Date): boolean {
  const end = Date.parse(until ?? '');
  return Number.isNaN(end) || end > now.getTime();
}
