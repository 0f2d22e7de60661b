import { describe, expect, it } from 'vitest';
import { repositoryOf, selectPrograms, webhookPortOf } from '../../../src/cli/local/demo-programs.ts';
import type { ProcessIdentity } from '../../../src/os/process/identity.ts';

const MAIN = '/opt/kubenode/src/cli/main.ts';
const FLEET = '--kubeconfig /f/kubeconfig';

function processOf(command: string, pid = 1): ProcessIdentity {
  return { pid, startTicks: '1', bootId: 'b', command: command.split(' ') };
}

describe('the programs of the demo', () => {
  it.each([
    ['sync of this fleet', `node ${MAIN} sync --from /r ${FLEET} --context hub`, ['sync']],
    ['controllers', `node ${MAIN} controllers ${FLEET} --context pre`, ['controllers pre']],
    ['hosting', `node ${MAIN} hosting ${FLEET} --context hub --dir /f-hosting`, ['hosting']],
    ['options of Node before the program', `node --flag ${MAIN} sync --from /r ${FLEET}`, ['sync']],
    ['sync of another fleet', `node ${MAIN} sync --from /r --kubeconfig /g/kubeconfig`, []],
    ['the command that started them', `node ${MAIN} start --demo /r ${FLEET}`, []],
    ['another program with such arguments', `vim sync --from /r ${FLEET}`, []],
    ['a kubeconfig at the end', `node ${MAIN} sync --from /r --kubeconfig`, []],
  ])('are found by their command lines: %s', (_, command, names) => {
    expect(selectPrograms([processOf(command)], '/f/kubeconfig').map(({ name }) => name)).toEqual(names);
  });

  it.each([
    ['its port', `node ${MAIN} sync --from /r ${FLEET} --webhook-port 17000`, 17_000],
    ['none in a fleet of an older version', `node ${MAIN} sync --from /r ${FLEET}`, undefined],
    ['none without sync', `node ${MAIN} hosting ${FLEET} --webhook-port 17000`, undefined],
  ])('S25 tell where sync receives webhooks: %s', (_, command, port) => {
    expect(webhookPortOf(selectPrograms([processOf(command)], '/f/kubeconfig'))).toBe(port);
  });

  it('are sorted by name, and tell the folder of the repository', () => {
    const sync = processOf(`node ${MAIN} sync --from /r ${FLEET}`, 1);
    const controllers = processOf(`node ${MAIN} controllers ${FLEET} --context test`, 2);
    const found = selectPrograms([sync, controllers], '/f/kubeconfig');
    expect(found.map(({ name }) => name)).toEqual(['controllers test', 'sync']);
    expect(repositoryOf(found)).toBe('/r');
    expect(repositoryOf(selectPrograms([controllers], '/f/kubeconfig'))).toBeUndefined();
  });
});
