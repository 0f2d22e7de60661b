/** Edits of fleet/pipelines.ts of the demo repository. Pure. */
import type { Freeze } from '../../api/generated/types.ts';

export const PIPELINE_FILE = 'fleet/pipelines.ts';

const [POLL, STAGES, STAGE_END] = ['    pollSeconds: 2,', '  stages: [', 'soakSeconds: 3 }'] as const;

/** Each commit after this one has to be signed by a key of the file. */
export function requireSignatures(pipelines: string, keysPath: string): string {
  return pipelines.replace(
    POLL,
    `${POLL}\n    signatures: 'Range',\n    signers: [{ name: 'tour', keysPath: '${keysPath}' }],`,
  );
}

/** No stage takes a commit meanwhile, but for a revert. */
export function declareFreeze(pipelines: string, { name, from, until, reason }: Freeze): string {
  const entry = `{ name: '${name}', from: '${from}', until: '${until}', reason: '${reason}' }`;
  return pipelines
    .replace(STAGES, `  freezes: [${entry}],\n${STAGES}`)
    .replaceAll(STAGE_END, 'soakSeconds: 3, revertPasses: { freezes: true } }');
}

/** The repository is read every five minutes, and after each push that its webhook announces. */
export function declareWebhook(pipelines: string, secret: string): string {
  return pipelines.replace(POLL, `    pollSeconds: 300,\n    webhookSecretRef: { name: '${secret}' },`);
}

const [TEST_STAGE, PRE_STAGE] = [
  "    { name: 'test', clusterSelector: environment('test'), soakSeconds: 3 },",
  "    { name: 'pre', clusterSelector: environment('pre'), soakSeconds: 3 },",
] as const;
const BOTH = "{ key: 'kubenode.dev/environment', operator: 'In', values: ['test', 'pre'] }";

/** test and pre are one stage, which takes each commit in both clusters at once. */
export function joinStages(pipelines: string): string {
  const joined = `    { name: 'test', clusterSelector: { matchExpressions: [${BOTH}] }, maxConcurrentClusters: 2, soakSeconds: 3 },`;
  return pipelines.replace(`${TEST_STAGE}\n${PRE_STAGE}`, joined);
}
