/** `kubenode local kubelet`: the objects that bring a Node of this computer to Ready, without containers. */
import { dirname } from 'node:path';
import { Command } from 'commander';
import { CONTROL_PLANE_VERSION } from '../../../local/binaries/versions.ts';
import { standInComponent, standInMachine } from '../../../local/kubelet/manifests.ts';
import { formatYaml } from '../../../views/text/yaml.ts';
import type { Io } from '../../io.ts';
import { KUBELET_BUNDLE, readKubeletBundle } from '../../local/kubelet-bundle.ts';

const HELP = `
Prints the MachineComponent of a stand-in kubelet, and a Machine with it for each --machine, for kubectl apply. The stand-in registers its
Node, renews its Lease, reports pods as running, and ends pods that are evicted or deleted. It runs no containers.

  kubenode local kubelet --machine n1 | kubectl apply --server-side -f -
  kubenode machine token n1 > bootstrap.json
  kubenode agent run --machine n1 --host sandbox --directory /tmp/n1 --bootstrap bootstrap.json
  kubectl get nodes`;

interface KubeletFlags {
  readonly kubernetesVersion: string;
  readonly machine: readonly string[];
}

export function createLocalKubeletCommand(io: Io, bundle: URL = KUBELET_BUNDLE): Command {
  return new Command('kubelet')
    .description('print the objects of a stand-in kubelet for machines of this computer')
    .option('--kubernetes-version <version>', 'version that its Node reports', CONTROL_PLANE_VERSION.slice(1))
    .option('--machine <name...>', 'also print a Machine of this name', [])
    .addHelpText('after', HELP)
    .action(async ({ kubernetesVersion, machine }: KubeletFlags) => {
      const artifact = {
        url: bundle.href,
        sha256: (await readKubeletBundle(bundle)).sha256,
        nodeFolder: dirname(process.execPath),
      };
      const component = standInComponent(kubernetesVersion, artifact);
      const objects = [component, ...machine.map((name) => standInMachine(name, component))];
      io.out(objects.map((object) => `---\n${formatYaml(object)}`).join(''));
    });
}
