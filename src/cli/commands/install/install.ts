import { Command } from 'commander';
import { clusterApiObjects } from '../../../api/clusterapi/installation.ts';
import { type InstalledObject, installation } from '../../../api/install/install.ts';
import { isCrd } from '../../../api/install/objects.ts';
import { NAMESPACE } from '../../../api/names.ts';
import { externalNodesRoles } from '../../../api/roles/all.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { formatYaml } from '../../../views/text/yaml.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../connection.ts';
import { describeError, EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { installInto, throwIfInstallFailed } from '../../local/install-into.ts';
import { createOutputOption, type OutputFormat, printResult, printWarnings } from '../../output.ts';
import { withProgress } from '../../progress.ts';
import { blockedPortWarnings } from './api-ports.ts';
import { addDeployOptions, type DeployFlags, deployedObjects, permittedPorts, programsOf } from './deploy.ts';
import { readImages } from './images.ts';
import { metricsHint, metricsObjects } from './metrics.ts';
import { removeExtension } from './remove-extension.ts';
import { checkRegistration } from './update-extension.ts';

const HELP = `
Installs what every part of kubenode needs: CRDs, the namespaces kubenode-system and kubenode-agents, ServiceAccounts,
roles and admission policies. It can be run again at any time: objects that are up to date are not written, and roles,
bindings, accounts and policies that an earlier version installed and this one does not have are deleted; CRDs never are.
With --dry-run the server validates everything and stores nothing; the exit code is 2 if there are changes.

With --hub it also runs kubenode sync in the cluster, with --cluster kubenode controllers, with --hosting kubenode hosting, with
--console kubenode console, in which each person signs in and sees what this person may read (docs/guides/console-login.md): for each a Deployment, a NetworkPolicy and a PodDisruptionBudget in kubenode-system. docs/guides/install.md describes how to build the image,
and the rights that an installation needs. With --cluster-api the controllers may read the Machines of Cluster API, and its
health checks may ask for repairs: docs/guides/cluster-api.md. With --update-extension Cluster API also asks them whether a new
version is installed in place, by a Service and an ExtensionConfig; without the option these are removed again. With
--external-nodes the controllers may read the NodeClaims of Karpenter, with --external-nodes-selector also the Nodes of node
groups: docs/guides/external-nodes.md. With --metrics a Prometheus and a Grafana of the cluster find them:
docs/guides/metrics.md.

Examples:
  kubenode install --context prod-eu-1
  kubenode install --dry-run -o json
  kubenode install --context hub --hub --cluster --registry registry.example.com/platform
  kubenode install --cluster --cluster-api --update-extension --registry registry.example.com/platform
  kubenode install --context hub --hosting --images images.yaml --registry registry.example.com/platform
  kubenode install --context hub --hub --cluster --registry registry.example.com/platform --metrics
  kubenode install --context hub --hub --console https://kubenode.example.com --registry registry.example.com/platform
  kubenode install --cluster --image registry.example.com/kubenode:0.1.0 --print`;

interface InstallCommandFlags extends ConnectionFlags, DeployFlags {
  readonly dryRun?: true;
  readonly output: OutputFormat;
}

export function createInstallCommand(io: Io): Command {
  const command = new Command('install')
    .description('install or upgrade the kinds, roles and policies of kubenode in a cluster')
    .option('--dry-run', 'only print what would change')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(addDeployOptions(command)).action((flags: InstallCommandFlags) =>
    runInstall(io, flags),
  );
}

async function runInstall(io: Io, flags: InstallCommandFlags): Promise<void> {
  const deployed = await deployedObjects(flags, await readImages(io, flags));
  if (flags.print) {
    const printed = [...followingOf(flags), ...deployed, ...(await metricsObjects(flags, undefined))];
    io.out(printed.map((object) => `---\n${formatYaml(object)}`).join(''));
    return;
  }
  const dryRun = flags.dryRun === true;
  const client = await connectFrom(io, flags);
  try {
    const metrics = await metricsObjects(flags, client);
    await checkRegistration(client, deployed, io.signal);
    const installed = await withProgress(io, (progress) =>
      installInto(io, client, {
        progress,
        dryRun,
        objects: [...kindsFirst([...installation(), ...followingOf(flags)]), ...deployed, ...metrics],
      }),
    );
    const results = [...installed, ...(await removeExtension(io, client, { dryRun, installed }))];
    if (deployed.length > 0) {
      printWarnings(io, await blockedPortWarnings(client, permittedPorts(flags), io.signal));
    }
    showResults(io, results, { server: client.server, dryRun, output: flags.output });
    if (!dryRun) showNextStep(io, flags);
  } finally {
    await client.close();
  }
}

/** Another run without the option removes the roles. */
function followingOf(flags: InstallCommandFlags): readonly KubeObject[] {
  const { clusterApi, externalNodes, externalNodesSelector, updateExtension } = flags;
  return [
    ...(clusterApi ? clusterApiObjects(updateExtension !== undefined) : []),
    ...(externalNodes || externalNodesSelector ? externalNodesRoles() : []),
  ];
}

/** All kinds come first, because objects of a kind wait until it is served. */
function kindsFirst(objects: readonly KubeObject[]): readonly KubeObject[] {
  return [...objects.filter((object) => isCrd(object)), ...objects.filter((object) => !isCrd(object))];
}

function showNextStep(io: Io, flags: InstallCommandFlags): void {
  if (flags.output !== 'table') return;
  for (const { name } of programsOf(flags)) {
    io.err(`see whether it runs: kubectl -n ${NAMESPACE} rollout status deployment/${name}\n`);
  }
  io.err(metricsHint(flags));
}

interface ShowOptions {
  readonly server: string;
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

function showResults(
  io: Io,
  results: readonly InstalledObject[],
  { server, dryRun, output }: ShowOptions,
): void {
  const objects = results.map(({ object, outcome, error }) => ({
    kind: object.kind,
    name: object.metadata.name,
    outcome,
    ...(error ? { error: describeError(error).text } : {}),
  }));
  printResult(io, output, { server, dryRun, objects }, () => ({
    columns: ['kind', 'name', 'outcome'],
    rows: objects.map(({ kind, name, outcome }) => [kind, name, outcome]),
  }));
  const count = (expected: InstalledObject['outcome']): number =>
    results.filter(({ outcome }) => outcome === expected).length;
  const changes = count('created') + count('configured') + count('deleted');
  const verb = dryRun ? 'would change' : 'changed';
  if (output === 'table') {
    io.err(`${server}: ${changes} ${verb}, ${count('unchanged')} unchanged, ${count('failed')} failed\n`);
  }
  throwIfInstallFailed(results, server);
  if (dryRun && changes > 0) setExitCode(io, EXIT.changes);
}
