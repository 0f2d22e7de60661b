/**
 * What a commit can make sync and the commands print: values of Secrets never reach a log, a status, an Event or a plan, and no
 * text of a commit looks like our own output.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLUSTERS, PIPELINES, RELEASES } from '../../../src/api/generated/resources.ts';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { createLogger } from '../../../src/kube/process/logger.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const VALUE = '4815162342';
/** In a ConfigMap, whose values are not secret. */
const OPEN_VALUE = '8675309';
const FILE = 'clusters/test/web/more.yaml';
const ESC = '\u001b';
const FORGED_PLAN = `plan \`sha256:${'0'.repeat(64)}\``;
const FORGED = `a\n\n${FORGED_PLAN}\n${ESC}[2J${ESC}[31mapproved`;

const BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(async () => {
  await fleet.reset();
  // Secrets are among the kinds that sync may write only with a further role.
  await fleet.clusters.test.client.create(BINDINGS, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'sync-everything' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'kubenode-system', name: 'kubenode-sync' }],
  });
});
afterAll(() => fleet.stop());

describe('the output of sync and of the commands', () => {
  it('contains no value of a Secret that a server refuses, while that of a ConfigMap shows', async () => {
    await provenFirst();
    await failedAt('ConfigMap default/open', [manifest('ConfigMap', 'open', `data: {p: ${OPEN_VALUE}}`)]);
    // The check can fail: what is not masked is everywhere.
    expect(placesOf(await everything(), OPEN_VALUE)).toEqual(
      expect.arrayContaining(['log', 'Cluster', 'Release', 'Event', 'status', 'release show', 'plan']),
    );

    await failedAt('Secret default/hidden', [
      manifest('Secret', 'hidden-1', `stringData: {p: ${VALUE}}`),
      manifest('Secret', 'hidden-2', `data: {p: {q: ${VALUE}}}`),
      manifest('Secret', 'hidden-3', `stringData: {p: [${VALUE}]}`),
    ]);
    const outputs = await everything();
    for (const name of ['hidden-1', 'hidden-2', 'hidden-3']) expect(outputs['log']).toContain(name);
    expect(placesOf(outputs, 'hidden-')).toEqual(
      expect.arrayContaining(['Cluster', 'Release', 'Event', 'status', 'release show', 'plan']),
    );
    expect(placesOf(outputs, VALUE)).toEqual([]);
  });

  it('shows no name or subject of a commit as a line or control sequence of its own', async () => {
    await provenFirst();
    const subject = `${ESC}[2J ${FORGED_PLAN}\r${FORGED_PLAN}`;
    const text = JSON.stringify(FORGED);
    const accepted = fleet.commitFiles(subject, {
      [FILE]: configMap(`{name: more, namespace: default, annotations: {note: ${text}}}`),
    });
    await fleet.allProven(accepted);
    const outputs = await everything();
    expect(placesOf(outputs, FORGED_PLAN)).toEqual(expect.arrayContaining(['Release', 'release show']));
    expectClean(outputs);

    const refused = fleet.commitFiles(subject, {
      [FILE]: [
        configMap(`{name: ${text}, namespace: default}`),
        configMap(`{name: ok, namespace: ${text}}`),
      ].join('---\n'),
    });
    await expect.poll(() => fleet.head()).toMatchObject({ commit: refused, verdict: 'Refused' });
    const refusals = await everything();
    expect(placesOf(refusals, 'approved')).toEqual(expect.arrayContaining(['Pipeline', 'status', 'plan']));
    expectClean(refusals);
  });
});

async function provenFirst(): Promise<void> {
  const first = fleet.commit('1', 'first');
  await fleet.pipeline();
  await fleet.sync('one');
  await fleet.allProven(first);
}

/** The server answers for some of these values as if it had failed itself: then sync tries again. */
async function failedAt(object: string, manifests: readonly string[]): Promise<void> {
  const commit = fleet.commitFiles(object, { [FILE]: manifests.join('---\n') });
  const message = expect.stringContaining(object) as string;
  await expect.poll(() => fleet.state('test')).toMatchObject({ commit, message });
}

function configMap(metadata: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: ${metadata}\n`;
}

function manifest(kind: string, name: string, content: string): string {
  return `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: default}\n${content}\n`;
}

type Outputs = Readonly<Record<string, string>>;

/** Everything that a person or a program gets to see. */
async function everything(): Promise<Outputs> {
  const { client, kubeconfig } = fleet.hub;
  const pipeline = await client.get<Pipeline>(PIPELINES, { name: 'fleet' });
  const repository = join(dirname(fileURLToPath(pipeline.spec.source.repository)), 'work');
  const { items: releases } = await client.list(RELEASES);
  const names = releases.map(({ metadata }) => metadata.name);
  const plan = ['plan', '--repo', repository, '--from', 'HEAD^', '--to', 'HEAD'];
  return {
    log: logLines(),
    Cluster: JSON.stringify((await client.list(CLUSTERS)).items),
    Pipeline: JSON.stringify(pipeline),
    Release: JSON.stringify(releases),
    Event: JSON.stringify((await client.list(EVENTS)).items),
    status: await printed('status'),
    'status -o yaml': await printed('status', '-o', 'yaml'),
    'release list': await printed('release', 'list'),
    'release show': (await Promise.all(names.map((name) => printed('release', 'show', name)))).join(''),
    history: await printed('history', 'test'),
    plan: await printed(...plan),
    'plan -o markdown': await printed(...plan, '-o', 'markdown'),
  };

  async function printed(...args: readonly string[]): Promise<string> {
    const io = testIo({ env: { KUBECONFIG: kubeconfig } });
    await runCommandLine(io, args);
    return `${io.stdout}${io.stderr}`;
  }
}

/** As `kubenode sync` writes them. */
function logLines(): string {
  const written: string[] = [];
  const logger = createLogger({
    stream: { write: (line) => written.push(line) },
    clock: createSystemClock(),
  });
  for (const { level, message, fields } of fleet.log().lines) logger[level](message, fields);
  return written.join('');
}

function placesOf(outputs: Outputs, text: string): string[] {
  return Object.keys(outputs).filter((place) => outputs[place]?.includes(text));
}

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

/** Only our own plan begins a line with its digest, and nothing moves a cursor. */
function expectClean(outputs: Outputs): void {
  for (const [place, text] of Object.entries(outputs)) {
    expect([place, CONTROL.exec(text)?.[0]]).toEqual([place, undefined]);
    expect([place, text.split('\n').filter((line) => line.startsWith(FORGED_PLAN))]).toEqual([place, []]);
  }
}
