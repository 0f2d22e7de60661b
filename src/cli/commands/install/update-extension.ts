/** The option `--update-extension` of `kubenode install`: how Cluster API reaches the controllers, and whether it accepts that. */
import { Option } from 'commander';
import { MANAGER_INSTALL } from '../../../api/names.ts';
import {
  EXTENSION_CONFIGS,
  extensionConfig,
  extensionSecret,
  extensionService,
  FAILURE_MODES,
  type FailureMode,
} from '../../../deploy/update-extension.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { CliError, EXIT } from '../../errors.ts';

export interface ExtensionFlags {
  readonly cluster?: true;
  readonly clusterApi?: true;
  /** `true`: an update that fails waits. */
  readonly updateExtension?: true | FailureMode;
}

export function createExtensionOption(): Option {
  return new Option(
    '--update-extension [on-failure]',
    'with --cluster --cluster-api: also a Service and an ExtensionConfig, by which Cluster API asks for updates in place; whether one that fails waits, or is answered with a failure (default: Wait)',
  ).choices(FAILURE_MODES);
}

export function checkExtension({ cluster, clusterApi, updateExtension }: ExtensionFlags): void {
  if (updateExtension === undefined || (cluster && clusterApi)) return;
  throw new CliError('--update-extension needs --cluster and --cluster-api', {
    hint: 'Cluster API asks kubenode controllers, which run in the cluster and follow its Machines',
    exitCode: EXIT.usage,
  });
}

export interface ExtensionObjects {
  /** The Secret exists before the pods read it. */
  readonly before: readonly KubeObject[];
  /** Cluster API learns of the Service last. */
  readonly after: readonly KubeObject[];
}

export function extensionObjects({ updateExtension }: ExtensionFlags): ExtensionObjects {
  if (updateExtension === undefined) return { before: [], after: [] };
  const onFailure = updateExtension === true ? 'Wait' : updateExtension;
  return { before: [extensionSecret()], after: [extensionService(), extensionConfig(onFailure)] };
}

/** Rejects, before anything is written, when Cluster API would not take the ExtensionConfig among these objects. */
export async function checkRegistration(
  client: Pick<Client, 'resourceFor' | 'apply'>,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  const config = objects.find(({ kind }) => kind === EXTENSION_CONFIGS.kind);
  if (!config) return;
  try {
    await client.resourceFor(config.apiVersion, config.kind);
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError(`the cluster does not serve kind ${config.kind} of ${config.apiVersion}`, {
      hint: 'install Cluster API 1.12 or later with the feature gates RuntimeSDK and InPlaceUpdates, or leave out --update-extension',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
  await dryRun(client, config, signal);
}

/** Asks the webhook of Cluster API, which refuses each ExtensionConfig without its feature gate. */
async function dryRun(client: Pick<Client, 'apply'>, config: KubeObject, signal: AbortSignal): Promise<void> {
  const how = { fieldManager: MANAGER_INSTALL, force: true, dryRun: true, signal };
  try {
    await client.apply(EXTENSION_CONFIGS, config, how);
  } catch (error) {
    if (!isKubeError(error, 'Forbidden', 'Invalid', 'ServerError')) throw error;
    throw new CliError(
      `Cluster API does not accept ${config.kind} ${config.metadata.name}: ${error.message}`,
      {
        hint: 'start Cluster API with the feature gates RuntimeSDK and InPlaceUpdates; delete an ExtensionConfig of that name that you made yourself',
        exitCode: EXIT.badInput,
        cause: error,
      },
    );
  }
}
