import { JOBS_CONFIG_FILE } from '../../layout.ts';
import { begunSteps } from '../history.ts';
import type { StepExecutor } from './executor.ts';
import { unitNamed } from './executor.ts';
import { observeRestart, restartOnce, serviceProcess } from './restart.ts';

const HOUR_MS = 3_600_000;

export const restartServiceStep: StepExecutor<'RestartService'> = {
  async problem({ host, config, journal, clock }, { service }) {
    if (!config.services.includes(service)) {
      const message = `the configuration of this agent does not allow ${service}`;
      return {
        code: 'NotAllowed',
        message: `${message}: services in ${JOBS_CONFIG_FILE} are ${config.services.join(', ') || 'none'}`,
      };
    }
    if (!(await host.units.status(unitNamed(service)))) {
      return { code: 'UnitNotFound', message: `the host has no unit ${service}` };
    }
    const since = new Date(clock.now().getTime() - HOUR_MS);
    const restarts = begunSteps(journal.jobs, 'RestartService', since).filter(
      ({ input }) => (input as { service: string }).service === service,
    );
    if (restarts.length < config.restartsPerHour) return undefined;
    return {
      code: 'TooOften',
      message: `${service} was restarted ${restarts.length} times within the last hour`,
    };
  },
  before: (context, { service }) => serviceProcess(context, service),
  execute: (context, { service }, { before }) => restartOnce(context, service, before),
  observe: (context, { input, before }) =>
    observeRestart(context, (input as { service: string }).service, before),
};
