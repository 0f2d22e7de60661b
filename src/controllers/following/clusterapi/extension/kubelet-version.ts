/** Finds the entry with which a machine gets the kubelet of a version. Pure. */
import type {
  Machine,
  MachineComponentEntry,
  MachineComponentSpec,
} from '../../../../api/generated/types.ts';
import type { EntryContent } from '../../../../api/machine/entry-content.ts';
import { ownValue } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';

/** The rules of component sets, for one entry. */
export interface EntryRules {
  /** The spec of a MachineComponent; undefined: there is none of that name. */
  readonly specOf: (componentRef: string) => MachineComponentSpec | undefined;
  /** Returns the names of the MachineComponents of a component, the newest version first. */
  readonly versionsOf: (component: string) => readonly string[];
  /** Resolves parameters and digest, or returns why the version cannot be used. */
  readonly resolve: (entry: AskedEntry) => EntryContent | string;
  /** Returns why the machine may not get the entry, by versions of API servers and by what the component declares. */
  readonly forbiddenReason: (
    machine: Machine,
    node: KubeObject | undefined,
    entry: EntryContent,
  ) => string | undefined;
}

const KUBELET = 'kubelet';

export type AskedEntry = Pick<MachineComponentEntry, 'name' | 'componentRef' | 'parameters'>;

/** Returns the entry, or why no component covers this version on the machine. */
export function kubeletEntry(
  machine: Machine,
  version: string,
  rules: Pick<EntryRules, 'specOf' | 'resolve'>,
): EntryContent | string {
  const present = presentKubelet(machine, rules);
  if (!present) return `${machine.metadata.name} has no component that is its kubelet`;
  const componentRef = refOf(present.name, version, rules);
  if (componentRef === undefined) return `no MachineComponent is ${present.name} ${version}`;
  const parameters = ownParameters(present, rules.specOf(present.componentRef));
  return rules.resolve({ name: present.name, componentRef, parameters });
}

export function presentKubelet(
  { spec }: Machine,
  { specOf }: Pick<EntryRules, 'specOf'>,
): MachineComponentEntry | undefined {
  return spec.components.find(
    ({ componentRef, state }) => state !== 'Absent' && isKubelet(specOf(componentRef)),
  );
}

/** One that kubeadm has joined keeps its own certificate, and its component has no identity. */
export function isKubelet(spec: MachineComponentSpec | undefined): boolean {
  return spec?.identity === 'Kubelet' || spec?.component === KUBELET;
}

/** Cluster API writes `v1.36.3`, and components are named with or without the letter. */
function refOf(name: string, version: string, { specOf }: Pick<EntryRules, 'specOf'>): string | undefined {
  const number = version.replace(/^v/, '');
  return [`${name}-${number}`, `${name}-v${number}`].find((ref) => {
    const spec = specOf(ref);
    return spec?.component === name && isKubelet(spec);
  });
}

/** Leaves out the defaults of the version before, so that the next one has its own. */
export function ownParameters(
  { parameters }: MachineComponentEntry,
  before: MachineComponentSpec | undefined,
): Readonly<Record<string, string>> {
  const defaults = Object.fromEntries(
    (before?.parameters ?? []).flatMap((each) =>
      each.default === undefined ? [] : [[each.name, each.default]],
    ),
  ) as Readonly<Record<string, string>>;
  const own = Object.entries(parameters).filter(([name, value]) => ownValue(defaults, name) !== value);
  return Object.fromEntries(own);
}
