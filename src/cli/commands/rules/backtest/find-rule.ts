/** The rule of a fleet repository that is replayed: of its working tree, or of a commit. */
import { relative, resolve } from 'node:path';
import type { NodeRemedier } from '../../../../api/generated/types.ts';
import { withoutNulls } from '../../../../api/validation/nulls.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { openWorkingTree } from '../../../../sync/git/working-tree.ts';
import { createRenderer, type Renderer } from '../../../../sync/render/renderer.ts';
import type { RenderedTarget } from '../../../../sync/rendered.ts';
import { withSchemaDefaults } from '../../../checks/component-checks.ts';
import { findCrd, schemaOf } from '../../../checks/crds.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { Io } from '../../../io.ts';
import { printWarnings } from '../../../output.ts';
import { findRules } from '../find.ts';
import { selectRules } from '../run.ts';

export interface RuleSelection {
  readonly name: string;
  /** The Cluster whose form of the rule counts, where they differ. */
  readonly target: string | undefined;
}

export interface RuleSource {
  readonly folder: string;
  readonly path: string;
  /** Default: the working tree. */
  readonly revision?: string;
}

export async function findFleetRule(
  io: Io,
  { folder, path, revision }: RuleSource,
  selection: RuleSelection,
  renderer: Renderer = createRenderer(),
): Promise<NodeRemedier> {
  const { signal } = io;
  if (revision !== undefined) {
    const git = await openWorkingTree(folder);
    const commit = await git.resolve(revision);
    const below = relative(git.root, resolve(folder, path)) || '.';
    const { rendered } = await renderer.commit({ git, commit, path: below, signal });
    return selectRule(rendered.targets, selection);
  }
  const root = await openWorkingTree(folder).then(
    (tree) => tree.root,
    () => folder,
  );
  const below = relative(root, resolve(folder, path)) || '.';
  const { targets, warnings } = await renderer.folder({ folder: root, path: below, signal });
  printWarnings(io, warnings);
  return selectRule(targets, selection);
}

export function selectRule(
  targets: readonly RenderedTarget[],
  { name, target }: RuleSelection,
): NodeRemedier {
  const forms = selectRules(findRules(targets), name, '<rule>');
  const found = target === undefined ? forms : forms.filter((form) => form.targets.includes(target));
  const [form, ...others] = found;
  if (form && others.length === 0) return asStored(form.object);
  const all = forms.flatMap((each) => each.targets).join(', ');
  throw new CliError(
    form ? `rule ${name} differs between clusters` : `cluster ${target ?? ''} has no rule ${name}`,
    { where: '--target', hint: `use one of: ${all}`, exitCode: EXIT.badInput },
  );
}

/** With the defaults of the API server, which the controllers rely upon. */
export function asStored(object: KubeObject): NodeRemedier {
  const schema = schemaOf(findCrd('NodeRemedier')).properties?.['spec'] ?? {};
  const spec = withSchemaDefaults(schema, withoutNulls(object['spec']));
  // What the render accepted has this type once it has its defaults.
  return { ...object, spec } as unknown as NodeRemedier;
}
