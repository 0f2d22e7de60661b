import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCommitChecks } from '../../../src/cli/checks/commit-checks.ts';
import { planTarget, type TargetPlan } from '../../../src/sync/apply/plan.ts';
import { judgeContent } from '../../../src/sync/judge/content.ts';
import { isRenderError } from '../../../src/sync/render/errors.ts';
import type { Rendered, RenderedTarget } from '../../../src/sync/rendered.ts';
import { createTestRenderer } from '../../support/fleet-repository.ts';
import { tempFolder } from '../../support/temp.ts';
import { applyInput, entry, live } from '../apply/fixtures.ts';

/** Three clusters, two units each, 15 objects a unit, as plain YAML. */
const CLUSTERS = ['test', 'pre', 'prod'];
const UNITS = ['web', 'shop'];
const render = createTestRenderer();
let repository: string;
let applied: RenderedTarget;

beforeAll(async () => {
  repository = tempFolder('fleet');
  for (const cluster of CLUSTERS) {
    for (const unit of UNITS) {
      const folder = join(repository, 'clusters', cluster, unit);
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, 'objects.yaml'),
        Array.from({ length: 15 }, (_, index) => yaml(`${unit}-${index}`)).join('---\n'),
      );
    }
  }
  const { targets } = await render.folder({ folder: repository });
  const found = targets.find(({ target }) => target === 'test');
  if (!found) throw new Error('cluster test is not rendered');
  applied = found;
});

const file = (unit: string): string => join('clusters', 'test', unit, 'objects.yaml');
const change = (unit: string, edit: (text: string) => string) => (root: string) => {
  const path = join(root, file(unit));
  writeFileSync(path, edit(readFileSync(path, 'utf8')));
};
const remove = (path: string) => (root: string) => rmSync(join(root, path), { recursive: true });
const keepFirst = (count: number) => (text: string) => text.split('---\n').slice(0, count).join('---\n');

/** Mistakes of people and tools. Each one would delete most of a unit, or all of it. */
const MUTATIONS: readonly (readonly [name: string, mutate: (root: string) => void])[] = [
  [
    'the whole repository is empty',
    (root) => readdirSync(root).forEach((name) => rmSync(join(root, name), { recursive: true })),
  ],
  ['the folder of clusters is missing', remove('clusters')],
  [
    'the folder of clusters is empty',
    (root) => {
      remove('clusters')(root);
      mkdirSync(join(root, 'clusters'));
    },
  ],
  ['the folder of the cluster is missing', remove('clusters/test')],
  [
    'the folder of the cluster is empty',
    (root) => {
      remove('clusters/test')(root);
      mkdirSync(join(root, 'clusters/test'));
    },
  ],
  [
    'the folder of the cluster is renamed',
    (root) => renameSync(join(root, 'clusters/test'), join(root, 'clusters/tset')),
  ],
  ['the folder of clusters is renamed', (root) => renameSync(join(root, 'clusters'), join(root, 'cluster'))],
  [
    'the cluster is moved into another one',
    (root) => renameSync(join(root, 'clusters/test'), join(root, 'clusters/pre/test')),
  ],
  ['a unit is missing', remove('clusters/test/web')],
  [
    'a unit is empty',
    (root) => {
      remove('clusters/test/web')(root);
      mkdirSync(join(root, 'clusters/test/web'));
    },
  ],
  [
    'both units are missing',
    (root) => {
      remove('clusters/test/web')(root);
      remove('clusters/test/shop')(root);
      writeFileSync(join(root, 'clusters/test/README.md'), 'x');
    },
  ],
  ['a file is missing', remove(file('web'))],
  ['a file is empty', change('web', () => '')],
  ['a file holds blanks only', change('web', () => '\n\n   \n')],
  ['a file is commented out', change('web', (text) => text.replaceAll(/^/gm, '# '))],
  ['a file holds empty documents', change('web', () => '---\n---\n---\n')],
  ['a file holds null', change('web', () => 'null\n')],
  ['a file holds an empty List', change('web', () => 'apiVersion: v1\nkind: List\nitems: []\n')],
  ['a file is cut after the first object', change('web', keepFirst(1))],
  ['a file is cut after a third of its objects', change('web', keepFirst(5))],
  ['a file is cut in the middle of an object', (root) => truncateSync(join(root, file('web')), 100)],
  ['a file is cut in the middle of a line', (root) => truncateSync(join(root, file('web')), 17)],
  [
    'a file has another ending',
    (root) => renameSync(join(root, file('web')), join(root, 'clusters/test/web/objects.yaml.bak')),
  ],
  ['a file holds no objects', change('web', () => 'a: 1\nb: 2\n')],
  ['a file is HTML of an error page', change('web', () => '<html><body>502 Bad Gateway</body></html>\n')],
  ['a file is a link text', change('web', () => '../shared/objects.yaml\n')],
  ['all names get a suffix', change('web', (text) => text.replaceAll(/name: (web-\d+)/g, 'name: $1-v2'))],
  [
    'all objects move to another namespace',
    change('web', (text) => text.replaceAll('namespace: default', 'namespace: other')),
  ],
  [
    'all objects become another kind',
    change('web', (text) => text.replaceAll('kind: ConfigMap', 'kind: Secret')),
  ],
  [
    'both units are cut to one object',
    (root) => {
      change('web', keepFirst(1))(root);
      change('shop', keepFirst(1))(root);
    },
  ],
];

describe('S2 holds a render without most of a unit', () => {
  it('covers thirty ways to lose most of a unit', () => {
    expect(new Set(MUTATIONS.map(([name]) => name)).size).toBe(30);
  });

  it.each(MUTATIONS)('deletes nothing when %s, and gives the reason', async (_name, mutate) => {
    const copy = tempFolder('mutant');
    cpSync(repository, copy, { recursive: true });
    mutate(copy);
    const { plan, because } = await judge(copy);
    const deletes = (plan?.prune ?? []).filter(({ action }) => action === 'delete' || action === 'mark');
    expect(deletes).toEqual([]);
    expect(because).not.toBe('');
  });

  it('deletes exactly the planned objects when a commit acknowledges that plan and no other', async () => {
    const copy = tempFolder('mutant');
    cpSync(repository, copy, { recursive: true });
    change('web', keepFirst(5))(copy);
    const held = (await judge(copy)).plan;
    const planDigest = held?.holds[0]?.planDigest ?? '';
    const acknowledged = (await judge(copy, [{ unit: 'web', planDigest }])).plan;
    const deleted = acknowledged?.prune
      .filter(({ action }) => action === 'delete')
      .map((item) => item.entry.name);
    expect(deleted?.toSorted()).toEqual(held?.prune.map((item) => item.entry.name).toSorted());
    expect(deleted).toHaveLength(10);
    expect((await judge(copy, [{ unit: 'shop', planDigest }])).plan?.holds).toHaveLength(1);
  });
});

/** What sync decides for a repository: refused with a reason, nothing for this cluster, or a plan that is held. */
async function judge(
  folder: string,
  acknowledgements: { unit: string; planDigest: string }[] = [],
): Promise<{ plan?: TargetPlan; because: string }> {
  try {
    const { targets } = await render.folder({ folder });
    const rendered: Rendered = { commit: 'c'.repeat(40), targets };
    const verdict = await judgeContent(rendered, createCommitChecks());
    if (!verdict.accepted) return { because: verdict.message };
    const target = targets.find((one) => one.target === 'test');
    if (!target) return { because: 'the commit does not name this cluster, so nothing changes there' };
    const plan = planTarget(clusterFor(target, acknowledgements));
    return { plan, because: plan.holds.map((hold) => hold.because).join('; ') };
  } catch (error) {
    if (isRenderError(error)) return { because: error.message };
    throw error;
  }
}

function clusterFor(
  target: RenderedTarget,
  acknowledgements: { unit: string; planDigest: string }[],
): ReturnType<typeof applyInput> {
  const present = applied.units.flatMap(({ unit, objects }) =>
    objects.map(({ object }) => ({ unit, object })),
  );
  return applyInput({
    git: target.units,
    inventory: present.map(({ unit, object }) => entry(object, { unit })),
    cluster: present.map(({ unit, object }) => live(object, { unit })),
    more: { acknowledgements, budget: { maxObjects: 2, maxPercent: 20 } },
  });
}

function yaml(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: default\ndata:\n  key: value\n`;
}
