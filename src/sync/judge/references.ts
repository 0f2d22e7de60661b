/** Checks what objects of our kinds name in the same commit: it must declare the version of a component that they name. Pure. */
import { GROUP } from '../../api/names.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

const MAX_LISTED = 5;

/** Checks an object beside all objects of its cluster. */
export function createReferenceCheck(
  objects: Iterable<KubeObject>,
): (object: KubeObject) => readonly Problem[] {
  const components = new Set<string>();
  for (const object of objects) if (isOurs(object, 'MachineComponent')) components.add(object.metadata.name);
  return (object) => (isOurs(object, 'MachineComponentSet') ? missingComponents(object, components) : []);
}

function missingComponents(set: KubeObject, declared: ReadonlySet<string>): readonly Problem[] {
  return listAt(set, 'spec', 'components').flatMap((entry, index) => {
    const ref = textAt(entry, 'componentRef');
    if (ref === undefined || declared.has(ref)) return [];
    // It is removed from machines by its name, whatever its version is.
    if (textAt(entry, 'state') === 'Absent') return [];
    const versions = [...declared].filter((name) => name.startsWith(`${textAt(entry, 'name') ?? ref}-`));
    const hint = versions.length > 0 ? `use one of ${listSome(versions)}, or declare it` : 'declare it';
    const message = `MachineComponent ${ref} is not declared for this cluster: ${hint}`;
    return [{ path: `spec.components[${index}].componentRef`, message }];
  });
}

function listSome(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, MAX_LISTED).join(', ');
  return names.length > MAX_LISTED ? `${shown}, …` : shown;
}

function isOurs({ apiVersion, kind }: KubeObject, expected: string): boolean {
  return kind === expected && apiVersion.startsWith(`${GROUP}/`);
}
