import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type KubenodeProcess, selectFleetUsers } from '../../../src/cli/local/fleet-users.ts';

const ROOT = '/home/me/.local/state/kubenode/local';
const KUBECONFIG = `${ROOT}/kubeconfig`;

function program(command: string, change: Partial<KubenodeProcess> = {}): KubenodeProcess {
  const env = { HOME: '/home/me' };
  return { pid: 7, command: command.split(' '), env, cwd: '/work', hasUserKubeconfig: true, ...change };
}

function explain(observed: KubenodeProcess): string {
  return selectFleetUsers([observed], ROOT)
    .map(
      ({ pid, command, createsProcesses }) =>
        `${pid} ${command}${createsProcesses ? ', creates processes' : ''}`,
    )
    .join('; ');
}

describe('selectFleetUsers', () => {
  it.each<[name: string, observed: KubenodeProcess, expected: string]>([
    [
      'finds controllers with the kubeconfig of the fleet',
      program(`node /k/src/cli/main.ts controllers --kubeconfig ${KUBECONFIG}`),
      `7 kubenode controllers --kubeconfig ${KUBECONFIG}, creates processes`,
    ],
    [
      'finds the kubeconfig of one cluster',
      program(`node /k/bin/kubenode.js sync --kubeconfig=${ROOT}/clusters/test/kubeconfig`),
      `7 kubenode sync --kubeconfig=${ROOT}/clusters/test/kubeconfig`,
    ],
    [
      'finds it by its environment, started by the name that npm installs',
      program('/usr/bin/node --flag /p/node_modules/.bin/kubenode console', {
        env: { KUBECONFIG: `/a:${KUBECONFIG}` },
      }),
      '7 kubenode console',
    ],
    [
      'finds it by the folder of the machines',
      program(`node /k/bin/kubenode.js controllers --local-dir ${ROOT}`),
      `7 kubenode controllers --local-dir ${ROOT}, creates processes`,
    ],
    [
      'resolves a path from the folder of the process',
      program('node /k/bin/kubenode.js sync --kubeconfig kubeconfig', { cwd: ROOT }),
      '7 kubenode sync --kubeconfig kubeconfig',
    ],
    [
      'finds what uses the local fleet by default',
      program('node /k/bin/kubenode.js agent simulate', { hasUserKubeconfig: false }),
      '7 kubenode agent simulate',
    ],
    [
      'finds hosting with the hub of the fleet, which creates nothing in its folders',
      program(`node /k/bin/kubenode.js hosting --dir /elsewhere --kubeconfig ${KUBECONFIG}`),
      `7 kubenode hosting --dir /elsewhere --kubeconfig ${KUBECONFIG}`,
    ],
    [
      'finds hosting in the folder that is deleted with the fleet, whatever its hub',
      program('node /k/bin/kubenode.js hosting --dir=local-hosting', { cwd: dirname(ROOT) }),
      '7 kubenode hosting --dir=local-hosting, creates processes',
    ],
    [
      'ignores hosting in a folder of another fleet',
      program(`node /k/bin/kubenode.js hosting --dir ${ROOT}-2-hosting`),
      '',
    ],
    ['ignores a user with another kubeconfig', program('node /k/bin/kubenode.js sync'), ''],
    [
      'ignores a flag that names another cluster, whatever its environment',
      program('node /k/bin/kubenode.js sync --kubeconfig /other', { env: { KUBECONFIG } }),
      '',
    ],
    [
      'ignores a folder whose name begins alike',
      program(`node /k/bin/kubenode.js sync --kubeconfig ${ROOT}-2/kubeconfig`),
      '',
    ],
    [
      'ignores commands that end by themselves',
      program(`node /k/bin/kubenode.js local down`, { env: { KUBECONFIG } }),
      '',
    ],
    ['ignores other programs', program(`vim /k/bin/kubenode.js controllers --kubeconfig ${KUBECONFIG}`), ''],
    ['ignores a process without a command line', program('', { env: { KUBECONFIG } }), ''],
  ])('%s', (_, observed, expected) => {
    expect(explain(observed)).toBe(expected);
  });
});
