/** Property tests: applied to a config, the patches of an answer change what is covered, and nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MachineComponent } from '../../../../../../src/api/generated/types.ts';
import { coverAnswer } from '../../../../../../src/controllers/following/clusterapi/extension/answers.ts';
import {
  type CoverDecision,
  planCover,
} from '../../../../../../src/controllers/following/clusterapi/extension/cover.ts';
import { filesPatch } from '../../../../../../src/controllers/following/clusterapi/extension/files/patch.ts';
import { questionIn } from '../../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import type { JsonPatchOperation } from '../../../../../../src/kube/controller/writes/declared-fields.ts';
import { textAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import { patchJson } from '../../../../../../src/sim/api-server/json-patch.ts';
import { agentFile } from '../../../../../support/agent/targets.ts';
import { facts } from '../facts.ts';
import { componentOf, FROM, fileMachine, KUBELETS, rulesOf, TO } from './bed.ts';

const PATHS = ['/etc/a', '/etc/b', '/etc/c'] as const;
const CONTENTS = ['1', '2'] as const;
const ROOT = ['spec', 'template', 'spec'] as const;

/** Applies operations, which may have no path outside of the files. */
function applied(config: object, operations: readonly JsonPatchOperation[]): unknown {
  for (const { path } of operations) expect(path).toMatch(/^\/spec\/template\/spec\/files(?:\/\d+)?$/);
  return patchJson(config, operations);
}

const entry = fc.record(
  {
    path: fc.constantFrom(...PATHS, '/etc/other'),
    content: fc.constantFrom(...CONTENTS, '3'),
    permissions: fc.constantFrom('0644', '0600'),
    append: fc.constant(true),
  },
  { requiredKeys: ['path', 'content'] },
);
const config = fc.record(
  {
    files: fc.array(entry, { maxLength: 4 }),
    preKubeadmCommands: fc.constantFrom(['echo 1'], ['echo 2']),
    joinConfiguration: fc.constantFrom({
      nodeRegistration: { kubeletExtraArgs: [{ name: 'v', value: '2' }] },
    }),
  },
  { requiredKeys: [] },
);

type Entry = NonNullable<Config['files']>[number];

const KEPT = (before: Entry | undefined): Entry | undefined => before;
const REMOVED = (): undefined => undefined;

/** What becomes of the entry of a path: most stay or get a content that a component has. */
function edit(path: string): fc.Arbitrary<(before: Entry | undefined) => Entry | undefined> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(KEPT) },
    { weight: 4, arbitrary: fc.constantFrom(...CONTENTS).map((content) => () => ({ path, content })) },
    { weight: 1, arbitrary: entry.map((each) => () => ({ ...each, path })) },
    { weight: 1, arbitrary: fc.constant(REMOVED) },
  );
}

const ANY_PATH = [...PATHS, '/etc/other'];

/** A config, and what a person makes of it. */
const pair = fc
  .tuple(
    fc.shuffledSubarray(ANY_PATH),
    fc.tuple(...ANY_PATH.map(edit)),
    fc.oneof(
      { weight: 9, arbitrary: fc.constant('echo 1') },
      { weight: 1, arbitrary: fc.constant('echo 2') },
    ),
  )
  .map(([paths, edits, command]) => {
    const files = paths.map((path): Entry => ({ path, content: '1' }));
    const edited = (path: string): readonly Entry[] => {
      const change = edits[ANY_PATH.indexOf(path)] ?? KEPT;
      return [change(files.find((each) => each.path === path)) ?? []].flat();
    };
    const added = ANY_PATH.filter((path) => !paths.includes(path));
    return {
      current: { files, preKubeadmCommands: ['echo 1'] },
      desired: { files: [...paths, ...added].flatMap(edited), preKubeadmCommands: [command] },
    };
  });

function templateOf(spec: object): object {
  const metadata = { namespace: 'fleet', name: 't' };
  return {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfigTemplate',
    metadata,
    spec: { template: { spec } },
  };
}

/** A component for each path, with a version for each content. */
const ALL: readonly MachineComponent[] = [
  ...KUBELETS,
  ...PATHS.flatMap((path) =>
    CONTENTS.map((content) =>
      componentOf(path.slice(-1), content, { files: [agentFile(path, `${content}\n`)] }),
    ),
  ),
];
const FIRST = ALL.filter(({ metadata }) => /^(?:[abc]-1|kubelet-1\.34\.1)$/.test(metadata.name));

function machineSet(version: string): object {
  const metadata = { namespace: 'fleet', name: 's' };
  const selector = { matchLabels: { pool: 'general' } };
  return { metadata, spec: { replicas: 1, selector, template: { spec: { version } } } };
}

describe('the patches of an answer', () => {
  it('CAP-17 take any list of files to any other, and name no other field', () => {
    fc.assert(
      fc.property(config, config, (current, desired) => {
        const operations = filesPatch(current, desired, '/spec/template/spec');
        const after = applied(templateOf(current), operations);
        expect(valueAt(after, ...ROOT)).toEqual({
          ...current,
          ...(desired.files ? { files: desired.files } : {}),
          ...(desired.files === undefined && current.files ? { files: undefined } : {}),
        });
      }),
    );
  });

  it('CAP-17 make both sides equal everywhere, and are left out where they could not', () => {
    let covered = 0;
    fc.assert(
      fc.property(pair, fc.constantFrom(FROM, TO), ({ current, desired }, version) => {
        const { decision, fields, operations } = answerTo(current, desired, version);
        const isCovered = decision.type === 'Covered';
        covered += Number(isCovered && operations.length > 0);
        const expected = isCovered ? desired : current;
        expect(applied(templateOf(current), operations)).toEqual(templateOf(expected));
        expect(fields).toEqual(expectedFields(isCovered, operations.length > 0, version));
        const files = isCovered ? changedFiles(current, desired) : [];
        expect(files.filter((text) => !/^\/etc\/[abc] [12] 0644 false$/.test(text))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
    expect(covered).toBeGreaterThan(50);
  });
});

interface Config {
  readonly files?: readonly {
    readonly path: string;
    readonly content: string;
    readonly permissions?: string;
    readonly append?: boolean;
  }[];
}

function answerTo(
  current: Config,
  desired: Config,
  version: string,
): {
  readonly decision: CoverDecision;
  readonly fields: readonly string[];
  readonly operations: readonly JsonPatchOperation[];
} {
  const body = {
    current: { machineSet: machineSet(FROM), bootstrapConfigTemplate: templateOf(current) },
    desired: { machineSet: machineSet(version), bootstrapConfigTemplate: templateOf(desired) },
  };
  const question = questionIn('CanUpdateMachineSet', body);
  if (!question) throw new Error('no question');
  const machine = fileMachine(1, { config: current, components: FIRST });
  const decision = planCover(question, facts([machine], { rules: rulesOf(ALL) }));
  const answer = coverAnswer('CanUpdateMachineSet', decision.type === 'Covered' ? decision : undefined);
  const patch = textAt(answer, 'bootstrapConfigTemplatePatch', 'patch');
  const fields = Object.keys(answer).filter((name) => name.endsWith('Patch'));
  const operations = patch === undefined ? [] : (JSON.parse(atob(patch)) as readonly JsonPatchOperation[]);
  return { decision, fields, operations };
}

function expectedFields(isCovered: boolean, hasFiles: boolean, version: string): readonly string[] {
  if (!isCovered) return [];
  return [
    ...(version === FROM ? [] : ['machineSetPatch']),
    ...(hasFiles ? ['bootstrapConfigTemplatePatch'] : []),
  ];
}

/** Entries of the desired config that the current one has not, and paths that it has no more. */
function changedFiles({ files: before = [] }: Config, { files: after = [] }: Config): readonly string[] {
  const texts = after.map((each) => entryText(each));
  const known = before.map((each) => entryText(each));
  const removed = before.filter(({ path }) => after.every((each) => each.path !== path));
  return [
    ...texts.filter((text) => !known.includes(text)),
    ...removed.map(({ path }) => `${path} was removed`),
  ];
}

function entryText({ path, content, permissions = '0644', append = false }: Entry): string {
  return [path, content, permissions, append].join(' ');
}
