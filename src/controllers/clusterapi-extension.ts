/** Connects the update extension of Cluster API with the views of this process and with the rules of component sets. */
import { MACHINE_COMPONENTS, MACHINES } from '../api/generated/resources.ts';
import type { Machine, MachineComponent } from '../api/generated/types.ts';
import type { EntryContent } from '../api/machine/entry-content.ts';
import { PRINCIPAL_CLUSTERAPI } from '../api/names.ts';
import { staleReason } from '../kube/cache/freshness.ts';
import type { Views } from '../kube/controller/views.ts';
import { NODES } from '../kube/objects/core-kinds.ts';
import { byCode } from '../kube/objects/digest.ts';
import type { KubeObject } from '../kube/objects/object.ts';
import { optional } from '../kube/objects/optional.ts';
import { type ServerVersions, skewReason } from '../rollout/kubelet-skew.ts';
import { compareNumbers, numbersOf } from './componentset/compat/numbered-version.ts';
import { createCompatRule } from './componentset/compat/rule.ts';
import { createFindVersion } from './componentset/observe/component-versions.ts';
import { resolveRevision, revisionOf } from './componentset/revision/resolve.ts';
import { createUpdateExtension, type UpdateExtension } from './following/clusterapi/extension/extension.ts';
import {
  type AskedEntry,
  type EntryRules,
  isKubelet,
} from './following/clusterapi/extension/kubelet-version.ts';
import type { UpdateFacts } from './following/clusterapi/extension/machines.ts';
import type { GroupParts } from './group.ts';
import { createServersReader } from './rollout-group.ts';

const READ = [MACHINES, NODES, MACHINE_COMPONENTS].map(({ kind }) => kind);

export async function connectUpdateExtension(
  parts: Pick<GroupParts, 'connectAs' | 'connectTo' | 'management' | 'clock' | 'log'>,
  views: Views,
): Promise<UpdateExtension> {
  const { connectAs, clock, log } = parts;
  const readServers = await createServersReader(parts, views);
  const client = await connectAs(PRINCIPAL_CLUSTERAPI);
  return createUpdateExtension({ client, theirs: parts.management?.client ?? client, log, facts });

  async function facts(): Promise<UpdateFacts> {
    const stale = READ.map((kind) => viewReason(views, kind)).find((reason) => reason !== undefined);
    if (stale !== undefined) throw new Error(stale);
    const [machines, nodes, components] = READ.map((kind) => views[kind]?.store);
    const servers = await readServers();
    return {
      machines: (machines?.list() ?? []) as readonly Machine[],
      nodeOf: (name) => nodes?.get({ name }),
      rules: createEntryRules((components?.list() ?? []) as readonly MachineComponent[], servers),
      now: clock.now(),
    };
  }
}

/** Versions without a number come last, by their names. */
function newestFirst(a: MachineComponent, b: MachineComponent): number {
  const [first, second] = [a, b].map(({ spec }) => numbersOf(spec.version) ?? []);
  return compareNumbers(second ?? [], first ?? []) || byCode(a.metadata.name, b.metadata.name);
}

function viewReason(views: Views, kind: string): string | undefined {
  const view = views[kind];
  if (!view) return `${kind}s are not watched`;
  return staleReason(view.reflector.freshness(), kind);
}

/** One machine and one entry are judged by the rules that judge all members of a set. */
export function createEntryRules(
  components: readonly MachineComponent[],
  servers: ServerVersions,
): EntryRules {
  const byName = new Map(components.map((component) => [component.metadata.name, component]));
  const byComponent = Map.groupBy(components, ({ spec }) => spec.component);
  const get = (name: string): MachineComponent | undefined => byName.get(name);
  const specOf = (ref: string): MachineComponent['spec'] | undefined => get(ref)?.spec;
  const find = createFindVersion({ get });
  const compatOf = createCompatRule(servers, specOf);
  return { specOf, versionsOf, resolve, forbiddenReason };

  function versionsOf(component: string): readonly string[] {
    const found = (byComponent.get(component) ?? []).toSorted(newestFirst);
    return found.map(({ metadata }) => metadata.name);
  }

  function resolve(asked: AskedEntry): EntryContent | string {
    const resolved = resolveRevision([{ ...asked, state: 'Present' }], find);
    if ('problems' in resolved) return resolved.problems.map(({ because }) => because).join('; ');
    const [yanked] = resolved.yanked;
    const [entry] = resolved.revision.components;
    return yanked?.because ?? entry ?? `${asked.componentRef} was not resolved`;
  }

  function forbiddenReason(
    machine: Machine,
    node: KubeObject | undefined,
    entry: EntryContent,
  ): string | undefined {
    const spec = specOf(entry.componentRef);
    const skew = isKubelet(spec) ? skewReason(spec?.version ?? '', servers) : undefined;
    const { name } = machine.metadata;
    const member = { name, machine, pinned: [], ...optional('node', node) };
    return (skew ?? compatOf(member, revisionOf([entry])))?.because;
  }
}
