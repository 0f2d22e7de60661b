/** The rules that a fleet repository renders to, and the files in which people write them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { GROUP } from '../../../api/names.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import { type RenderedTarget, sourceText } from '../../../sync/rendered.ts';
import type { FoundRule } from './check.ts';
import type { SourceText } from './locate.ts';

/** Most clusters have the same rules: each form of a rule once, by name. */
export function findRules(targets: readonly RenderedTarget[]): readonly FoundRule[] {
  const rules = targets.flatMap(({ target, units }) =>
    units.flatMap(({ objects }) =>
      objects
        .filter(({ object }) => object.kind === 'NodeRemedier' && object.apiVersion.startsWith(`${GROUP}/`))
        .map(({ object, source }) => ({ target, object, source })),
    ),
  );
  const forms = Map.groupBy(rules, ({ object }) => digestOf([object.metadata.name, object['spec']]));
  return [...forms.values()].flatMap((form) => {
    const [first] = form;
    if (!first) return [];
    return {
      name: first.object.metadata.name,
      object: first.object,
      targets: form.map(({ target }) => target),
      declaredAt: sourceText(first.source),
    };
  });
}

const CODE = /(?<!\.d)\.([cm]?[jt]s|ya?ml|json)$/;
const IGNORED = /(^|\/)(node_modules|\.[^/]*|rendered|dist|vendor)(\/|$)/;

export function readSourceTexts(root: string, path: string): readonly SourceText[] {
  const folder = join(root, path);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && CODE.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !IGNORED.test(file))
    .toSorted()
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
}
