import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf } from '../../../src/kube/objects/object-id.ts';
import { acknowledgementId, planDigestOf } from '../../../src/sync/judge/delete-budget.ts';
import { formatPreviewMarkdown } from '../../../src/sync/preview/markdown.ts';
import {
  compareCommits,
  createPreview,
  type PreviewLimits,
  previewVerdict,
  type UnitPreview,
  withHubScope,
} from '../../../src/sync/preview/preview.ts';
import { formatPreview, summarizePreview } from '../../../src/sync/preview/text.ts';
import type { Rendered } from '../../../src/sync/rendered.ts';
import { encryptedObject } from '../../kube/sops/encrypted-files.ts';
import { runs } from '../../support/sweep-size.ts';
import { configMap, namespace, unit } from '../apply/fixtures.ts';
import { MINUTE, PromotionSimulation } from '../promote/simulation/simulation.ts';

const LIMITS = { budget: { maxObjects: 1, maxPercent: 0 }, acknowledgements: [] };
const SECRET: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'default' },
  stringData: { token: 'canary-before' },
};

function rendered(targets: Record<string, Record<string, readonly KubeObject[]>>): Rendered {
  return {
    commit: 'c'.repeat(40),
    targets: Object.entries(targets).map(([target, units]) => {
      const all = Object.entries(units).map(([name, objects]) => unit(name, objects));
      return { target, units: all, digest: all.map(({ digest }) => digest).join(' ') };
    }),
  };
}

function preview(from: Rendered | undefined, to: Rendered): ReturnType<typeof createPreview> {
  const targets = compareCommits(from, to, LIMITS);
  return createPreview({ from: 'HEAD^', to: 'HEAD', targets, refusals: [] }, to);
}

it('describes for each target what it was compared with', () => {
  const found = preview(undefined, rendered({ test: { web: [a] }, pre: {} }));
  const because = 'nothing live is read: --no-live';
  const text = formatPreview({ ...found, targets: found.targets.map((each) => ({ ...each, because })) });
  expect(text).toContain('pre  no change from commit to commit (nothing live is read: --no-live)\n');
  expect(text).toContain('test  1 create from commit to commit (nothing live is read: --no-live)\n');
});

it('ROL-60 shows below a target what its sets would roll out, also on a pull request', () => {
  const found = preview(undefined, rendered({ test: { web: [a] } }));
  const rollouts = { state: 'Unknown', because: 'nothing live is read' } as const;
  const shown = { ...found, targets: found.targets.map((each) => ({ ...each, rollouts })) };
  expect(formatPreview(shown)).toContain('\n  rollouts  not known: nothing live is read\n');
  expect(formatPreviewMarkdown(shown)).toContain('  rollouts  not known: nothing live is read\n');
});

it('holds from commit to commit what only a spent acknowledgement would release', () => {
  const [from, to] = [rendered({ test: { web: [a, b, kept] } }), rendered({ test: { web: [kept] } })];
  const holdWith = (limits: Partial<PreviewLimits>): UnitPreview['hold'] =>
    compareCommits(from, to, { ...LIMITS, ...limits })[0]?.units[0]?.hold;
  const hold = holdWith({});
  const acknowledgement = { unit: 'web', planDigest: hold?.planDigest ?? '' };
  expect(holdWith({ acknowledgements: [acknowledgement] })).toBeUndefined();
  const spent = [acknowledgementId(acknowledgement)];
  expect(holdWith({ acknowledgements: [acknowledgement], spent })?.planDigest).toBe(hold?.planDigest);
});

function lines(from: Rendered | undefined, to: Rendered): string[] {
  return preview(from, to).targets.flatMap(({ target, units }) =>
    units.flatMap((one) =>
      one.changes.map(({ action, object }) => `${target}/${one.unit}: ${action} ${object}`),
    ),
  );
}

function cluster(name: string): KubeObject {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Cluster', metadata: { name } };
}

const a = configMap('a');
const b = configMap('b');
const kept: KubeObject = {
  ...configMap('kept'),
  metadata: { name: 'kept', namespace: 'default', annotations: { 'kubenode.dev/prune': 'Never' } },
};

describe('compareCommits', () => {
  it.each<[name: string, from: Rendered | undefined, to: Rendered, expected: string[]]>([
    [
      'shows no change for equal commits',
      rendered({ test: { web: [a] } }),
      rendered({ test: { web: [a] } }),
      [],
    ],
    [
      'creates every object of a first commit',
      undefined,
      rendered({ test: { web: [a] } }),
      ['test/web: create ConfigMap default/a'],
    ],
    [
      'updates an object that changed',
      rendered({ test: { web: [a] } }),
      rendered({ test: { web: [configMap('a', { key: 'new' })] } }),
      ['test/web: update ConfigMap default/a'],
    ],
    [
      'deletes an object that was removed',
      rendered({ test: { web: [a, b] } }),
      rendered({ test: { web: [a] } }),
      ['test/web: delete ConfigMap default/b'],
    ],
    [
      'shows no change for an object that moves between units',
      rendered({ test: { web: [a], other: [b] } }),
      rendered({ test: { web: [], other: [b, a] } }),
      [],
    ],
    [
      'writes a namespace first and deletes it last',
      rendered({ test: { web: [b, namespace('old')] } }),
      rendered({ test: { web: [a, namespace('new')] } }),
      [
        'test/web: create Namespace new',
        'test/web: create ConfigMap default/a',
        'test/web: delete ConfigMap default/b',
        'test/web: delete Namespace old',
      ],
    ],
    [
      'deletes everything in a cluster that the new commit does not name',
      rendered({ test: { web: [a] }, prod: { web: [a] } }),
      rendered({ test: { web: [a] } }),
      ['prod/web: delete ConfigMap default/a'],
    ],
    [
      'deletes nothing in the hub when the new commit declares nothing for it, as sync does not',
      rendered({ hub: { web: [a] } }),
      rendered({ test: { web: [a] } }),
      ['test/web: create ConfigMap default/a'],
    ],
    [
      'deletes no object that is annotated to be kept, as sync does not',
      rendered({ test: { web: [a, kept] } }),
      rendered({ test: { web: [a] } }),
      [],
    ],
  ])('%s', (_name, from, to, expected) => {
    expect(lines(from, to)).toEqual(expected);
  });

  it('shows what would be held, with the plan digest to acknowledge', () => {
    const { targets } = preview(
      rendered({ test: { web: [a, b, configMap('c')] } }),
      rendered({ test: { web: [a] } }),
    );
    expect(targets[0]?.units[0]?.hold?.because).toBe(
      '2 of 3 objects of unit web would be deleted: the delete budget is 1',
    );
    expect(targets[0]?.units[0]?.hold?.planDigest).toMatch(/^sha256:/);
  });
});

describe('a commit that empties', () => {
  it.each<[name: string, to: Rendered]>([
    ['a cluster by not naming it', rendered({ prod: { web: [a] } })],
    ['a cluster without units', rendered({ test: {}, prod: { web: [a] } })],
    ['a unit', rendered({ test: { other: [] }, prod: { web: [a] } })],
  ])('%s is held, with the plan digest that sync reports', (_, to) => {
    const found = preview(rendered({ test: { web: [a, b] }, prod: { web: [a] } }), to);
    const test = found.targets.find(({ target }) => target === 'test');
    const deletes = [a, b].map((object) => objectIdOf(object));
    expect(test?.units.map(({ unit: name, hold }) => [name, hold])).toEqual([
      [
        'web',
        {
          planDigest: planDigestOf({ unit: 'web', deletes }),
          because: 'unit web renders to nothing: 2 objects would be deleted',
        },
      ],
    ]);
    expect(previewVerdict(found)).toBe('held');
  });

  it('a cluster whose Cluster it removes from git deletes nothing there, as sync does', () => {
    const [from, to] = [
      ['test', 'prod'],
      ['renamed', 'prod'],
    ].map((names) =>
      rendered({
        hub: { clusters: names.map(cluster) },
        ...Object.fromEntries(names.map((name) => [name, { web: [a, b] }])),
      }),
    );
    const found = to && preview(from, to).targets.find(({ target }) => target === 'test');
    expect(found).toMatchObject({
      units: [],
      because: 'git does not declare the Cluster any more: its objects stay',
    });
  });

  it('a unit of the hub is held under its name in the inventory of the Pipeline', () => {
    const [from, to] = [rendered({ hub: { web: [a] } }), rendered({ hub: { other: [b] } })];
    const [hub] = compareCommits(withHubScope(from, 'fleet'), withHubScope(to, 'fleet'), LIMITS);
    const planDigest = planDigestOf({ unit: 'fleet.web', deletes: [objectIdOf(a)] });
    expect(hub?.units.find(({ unit: name }) => name === 'fleet.web')?.hold?.planDigest).toBe(planDigest);
  });
});

describe('previewVerdict', () => {
  it.each([
    ['nothing', rendered({ test: { web: [a] } }), rendered({ test: { web: [a] } })],
    ['changes', rendered({ test: { web: [a] } }), rendered({ test: { web: [b, a] } })],
    ['held', rendered({ test: { web: [a, b] } }), rendered({ test: { web: [] } })],
  ] as const)('is %s', (verdict, from, to) => {
    expect(previewVerdict(preview(from, to))).toBe(verdict);
  });

  it('never reports a cluster that did not answer as unchanged', () => {
    const targets = [{ target: 'prod', by: 'unknown', because: 'no answer', units: [] }] as const;
    const unknown = createPreview({ from: 'a', to: 'b', targets, refusals: [] }, { targets: [] });
    expect(previewVerdict(unknown)).toBe('changes');
    expect(formatPreview(unknown)).toContain('prod  unknown (no answer)');
    expect(formatPreviewMarkdown(unknown)).toContain('| prod | unknown (no answer) | – |');
  });

  it('S40 is held while a replacement waits for a person, and shows it as such', () => {
    const changes = [
      { action: 'held', object: 'ConfigMap default/a', details: ['kubectl made it immutable'] },
    ] as const;
    const targets = [{ target: 'prod', by: 'live', units: [{ unit: 'web', changes }] }] as const;
    const held = createPreview({ from: 'a', to: 'b', targets, refusals: [] }, { targets: [] });
    expect(previewVerdict(held)).toBe('held');
    expect(summarizePreview(held)).toContain('1 held');
    expect(formatPreview(held)).toContain('! held    ConfigMap default/a');
    expect(formatPreview(held)).toContain('kubectl made it immutable');
  });

  it('is refused before anything else', () => {
    const refusals = [
      {
        target: 'test',
        unit: 'web',
        object: 'ConfigMap default/a',
        source: 'main.ts:1',
        message: 'declared twice',
      },
    ];
    const refused = createPreview({ from: 'a', to: 'b', targets: [], refusals }, { targets: [] });
    expect(previewVerdict(refused)).toBe('refused');
    expect(formatPreview(refused)).toContain(
      '! refused: ConfigMap default/a of test: declared twice [main.ts:1]',
    );
  });
});

describe('the plan digest', () => {
  const from = rendered({ test: { web: [a] } });
  const to = rendered({ test: { web: [a, b] } });
  it('FST-2 is the same whatever the content is compared with, and differs with the content', () => {
    const changed = { ...b, data: { other: 'content' } };
    expect(preview(undefined, to).digest).toBe(preview(from, to).digest);
    expect(preview(from, rendered({ test: { web: [a, changed] } })).digest).not.toBe(
      preview(from, to).digest,
    );
  });

  it('FST-2 is the digest that the Release of the commit has, and that its approval names', () => {
    const sim = new PromotionSimulation();
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(MINUTE);
    const [release] = sim.releases.values();
    const targets = [...(sim.commits[0]?.targets ?? [])].map(([target, { digest }]) => {
      return { target, digest, units: [] };
    });
    const hub = { target: 'hub', digest: 'sha256:hub', units: [] };
    expect(targets.length).toBeGreaterThan(1);
    expect(preview(undefined, { commit: 'x', targets: [hub, ...targets.toReversed()] }).digest).toBe(
      release?.spec.plan.digest,
    );
  });
});

describe('formatPreview', () => {
  it('masks the values of Secrets in every format', () => {
    const after = { ...SECRET, stringData: { token: 'canary-after' } };
    const found = preview(rendered({ test: { web: [SECRET] } }), rendered({ test: { web: [after] } }));
    for (const text of [formatPreview(found), formatPreviewMarkdown(found), JSON.stringify(found)]) {
      expect(text).not.toContain('canary');
    }
    expect(formatPreview(found)).toContain('~ update  Secret default/s');
  });

  it('SAF-13 shows names and messages as text: nothing in them ends a line, a cell or a block, or controls a terminal', () => {
    const oddText = fc
      .array(
        fc.constantFrom(
          '\n',
          '```',
          '`',
          '|',
          '</details>',
          '\u001b[2J',
          '\u009b2J',
          '\u202e',
          '## x',
          'plan `sha256:0`',
          '@octocat',
          'https://evil.example.com',
          'a',
        ),
        { minLength: 1, maxLength: 8 },
      )
      .map((parts) => parts.join(''));
    const expected = layoutOf('plain');
    fc.assert(
      fc.property(oddText, (text) => {
        expect(layoutOf(text)).toEqual(expected);
        const shown = oddPreview(text);
        for (const each of [formatPreview(shown), formatPreviewMarkdown(shown)]) {
          expect(each.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
        }
        const markdown = formatPreviewMarkdown(shown).split('\n');
        expect(markdown.filter((line) => line.startsWith('plan '))).toEqual([`plan \`${shown.digest}\``]);
        expect(markdown.filter((line) => line === '</details>')).toHaveLength(1);
        expect(outsideOfCode(markdown)).not.toMatch(/@\w|https?:\/\//);
        const fences = markdown.filter((line) => /^`{3,}$/.test(line));
        expect(fences).toHaveLength(2);
        expect(new Set(fences).size).toBe(1);
      }),
      runs(200, 5000),
    );
  });

  it('begins with a summary', () => {
    const found = preview(
      rendered({ test: { web: [a] }, prod: { web: [a] } }),
      rendered({ test: { web: [a, b] }, prod: { web: [a] } }),
    );
    expect(summarizePreview(found)).toBe('1 of 2 targets change; 1 create');
    expect(formatPreviewMarkdown(found).split('\n')[0]).toBe(
      '### kubenode plan: 1 of 2 targets change; 1 create',
    );
  });
});

/** A preview in which every text is the given one. */
function oddPreview(text: string): ReturnType<typeof createPreview> {
  const change = { action: 'update', object: text, source: text, details: [text] } as const;
  const hold = { planDigest: 'sha256:1', because: text };
  const refusals = [{ target: text, unit: text, object: text, source: text, message: text }];
  const units = [{ unit: text, changes: [change], hold }];
  const targets = [{ target: text, by: 'commits', because: text, units }] as const;
  return createPreview({ from: text, to: text, refusals, targets }, { targets: [] });
}

/** How many lines each format has. */
function layoutOf(text: string): number[] {
  const shown = oddPreview(text);
  return [formatPreview(shown), formatPreviewMarkdown(shown)].map((each) => each.split('\n').length);
}

/** What GitHub and GitLab search for mentions and links. */
function outsideOfCode(markdown: readonly string[]): string {
  const fence = markdown.find((line) => /^`{3,}$/.test(line));
  const [start, end] = fence === undefined ? [0, -1] : [markdown.indexOf(fence), markdown.lastIndexOf(fence)];
  const text = markdown.filter((_, index) => index < start || index > end).join('\n');
  return text.replaceAll(/(`+)[^\n]*?[^`]\1(?!`)/g, '');
}

function withOtherText(text: string): string {
  return text.replace('payments', 'shop').replace(/(multi: ENC.*data:)./, '$1_');
}

it('S29 names an encrypted object and the number of its keys, and shows no encrypted text', () => {
  const secret = encryptedObject('secret.yaml');
  const changed = encryptedObject('secret.yaml', withOtherText);
  const created = formatPreview(preview(undefined, rendered({ prod: { web: [secret] } })));
  expect(created).toContain('+ create  Secret shop/db  [fleet/main.ts:1]\n        encrypted to 2 keys\n');
  const before = rendered({ prod: { web: [secret] } });
  const updated = formatPreview(preview(before, rendered({ prod: { web: [changed] } })));
  expect(updated).toContain('~ update  Secret shop/db');
  expect(updated).toContain('        ~ stringData.multi: *** → ***\n        encrypted to 2 keys\n');
  expect(created + updated).not.toMatch(/ENC\[|BEGIN AGE|leaves/);
});
