/** docs/guides/demo.md, all of it: ten machines that roll, fail, are repaired, and go dark. */
import { type Guide, proven } from './guide.ts';

const SET_OF_PROD =
  "kubectl --context prod get machinecomponentset general -o jsonpath='{.spec.components[*].componentRef}'";

/** How many repairs succeeded; `|| true` because grep fails without one. */
const REPAIRS = 'npx kubenode remedy list --context test | grep -c Succeeded || true';

export const demo: Guide = {
  path: 'docs/guides/demo.md',
  expectations: [
    { at: 'start --demo ../demo', until: /converged: 10 machines Ready at [\da-f]{12} in \d+ s/ },
    { at: 'kubenode status', prints: /^prod .*Proven/m },
    { at: 'machine list --context prod', prints: /(?:general-\w+ +Ready[^]*){6}/ },
    // q leaves.
    { at: 'npx kubenode tour', types: 'q' },
    { at: 'tour --yes' },
    { at: 'tour --yes --step kernel-hang' },
    { at: 'kubenode plan', exits: 2 },
    {
      at: 'rollout watch general',
      before: (reader) => reader.shows(SET_OF_PROD, /web-1\.1\.0/),
      after: proven('../demo'),
    },
    { at: 'kubenode status', exits: 1, prints: /^test .*Failed/m },
    { at: 'rollout show general', prints: /2\.0\.0/ },
    { at: 'revert --no-edit HEAD', after: proven('../demo') },
    // The tour had repairs, too.
    { at: 'for i in 1 2 3', before: async (reader) => void (await reader.run(`REPAIRS=$(${REPAIRS})`)) },
    { at: 'remedy watch', until: /Succeeded/, end: 'Ctrl-C' },
    {
      at: 'remedy list',
      prints: /Succeeded/,
      after: (reader) => reader.shows(`[ $(${REPAIRS}) -gt $REPAIRS ] && echo repaired`, /^repaired$/m),
    },
    { at: 'machine list --context prod', prints: /Unreachable/ },
    { at: 'kubenode status', exits: 3, prints: /^[^\n]*zone west/ },
    {
      at: 'pkill -CONT',
      after: (reader) =>
        reader.shows('npx kubenode machine list --context prod', /(?:general-\w+ +Ready[^]*){6}/),
    },
    {
      at: 'commit -am "Add cluster ci"',
      after: (reader) => reader.shows('npx kubenode cluster list', /^ci .*Ready/m),
    },
    {
      at: 'machine list --kubeconfig',
      after: (reader) =>
        reader.shows('npx kubenode machine list --kubeconfig $K', /(?:general-\w+ +Ready[^]*){2}/),
    },
    {
      at: 'revert --no-edit HEAD',
      after: (reader) => reader.shows('npx kubenode release acknowledge hub --reason x', /planDigest/),
    },
    { at: 'kubenode status', exits: 1, prints: /^fleet +Held/m },
    {
      at: 'acknowledge hub',
      after: (reader) => reader.shows('npx kubenode cluster list 2>&1', /hosts no cluster/),
    },
    { at: 'echo broken', after: (reader) => reader.shows('cat $M/etc/web/greeting', /hello/) },
    { at: 'pkill -9', after: (reader) => reader.shows('pgrep -f "$M/.*server.mjs"', /^\d+$/m) },
    { at: 'agent status', prints: /web/ },
    // Ctrl-C takes it down.
    { at: 'local down --wipe', before: (reader) => reader.interruptAll() },
    {
      at: 'kubenode sync --from ../demo-2',
      async after(reader) {
        await proven('../demo-2')(reader);
        await reader.run('kill $(jobs -p); wait');
      },
    },
  ],
};
