/** The options by which hardware systems report maintenance events, and the start of their webhook server. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { PRINCIPAL_HOSTDOCTOR } from '../../../api/names.ts';
import type { GroupParts } from '../../../controllers/group.ts';
import { createWebhookSecrets } from '../../../controllers/hostdoctor/intake/secret.ts';
import { createMaintenanceIntake } from '../../../controllers/hostdoctor/intake/webhook.ts';
import { createReportRecorder } from '../../../controllers/hostdoctor/report/execute.ts';
import { MAX_REPORT_BYTES } from '../../../controllers/hostdoctor/report/parse.ts';
import { type HookServer, startHookServer } from '../../../kube/webhook/server.ts';
import { MAINTENANCE_WEBHOOK_REQUESTS } from '../../../observability/metrics/machine.ts';
import { createIntegerParser } from '../../option-parsers.ts';

export interface MaintenanceFlags {
  readonly maintenancePort?: number;
  readonly maintenanceHost: string;
  readonly maintenanceFolder?: string;
}

export function addMaintenanceOptions(command: Command): Command {
  return command
    .option(
      '--maintenance-port <n>',
      'port for the maintenance events of hardware systems; 0 selects a free port',
      createIntegerParser(0, 65_535),
    )
    .option('--maintenance-host <address>', 'address for --maintenance-port to listen on', '127.0.0.1')
    .option('--maintenance-folder <path>', 'folder of maintenance events, a JSON file each', parseFolder);
}

function parseFolder(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected a path.');
  return resolve(text);
}

type MaintenanceParts = Pick<GroupParts, 'connectAs' | 'clock' | 'log' | 'metrics'>;

/** Rejects when the port is taken. Undefined without the flag. Each replica receives reports, also one that does not lead. */
export async function serveMaintenance(
  { maintenancePort: port, maintenanceHost: host }: MaintenanceFlags,
  { connectAs, clock, log, metrics }: MaintenanceParts,
): Promise<HookServer | undefined> {
  if (port === undefined) return undefined;
  const requests = metrics.counter(MAINTENANCE_WEBHOOK_REQUESTS);
  const client = await connectAs(PRINCIPAL_HOSTDOCTOR);
  const intake = createMaintenanceIntake({
    readSecrets: createWebhookSecrets({ client, clock, log }),
    recorder: createReportRecorder(client),
    clock,
    log,
  });
  const count = (result: string): void => requests.add({ result });
  const limits = { what: 'maintenance events', maxBodyBytes: MAX_REPORT_BYTES };
  const server = await startHookServer({ ...limits, intake, port, host, log, count });
  log.info('server of maintenance events started', { url: server.url });
  return server;
}
