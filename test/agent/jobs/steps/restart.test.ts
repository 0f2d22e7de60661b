import { describe, expect, it } from 'vitest';
import { observeRestart, restartOnce, serviceProcess } from '../../../../src/agent/jobs/steps/restart.ts';
import { createJobHost } from '../../../support/agent/job-host.ts';
import { stepContext } from '../../../support/agent/step-context.ts';

describe('the restart of a service', () => {
  it('AGT-51 stops the process that ran when the step began, and no later one', async () => {
    const jobs = await createJobHost();
    const context = await stepContext(jobs);
    const before = await serviceProcess(context, 'web');
    await restartOnce(context, 'web', before);
    await restartOnce(context, 'web', before);
    await jobs.host.node.reboot();
    await restartOnce(context, 'web', before);
    expect(jobs.restarts()).toMatchObject({ stops: 1 });
  });

  it('starts a service that did not run', async () => {
    const jobs = await createJobHost();
    const context = await stepContext(jobs);
    await jobs.host.units.stop('web');
    const before = await serviceProcess(context, 'web');
    expect(await restartOnce(context, 'web', before)).toMatchObject({ state: 'Succeeded' });
    expect(await observeRestart(context, 'web', before)).toMatchObject({ happened: 'Yes' });
  });

  it('tells from the process whether it happened', async () => {
    const jobs = await createJobHost();
    const context = await stepContext(jobs);
    const before = await serviceProcess(context, 'web');
    expect(await observeRestart(context, 'web', before)).toMatchObject({ happened: 'No' });
    await jobs.host.units.stop('web');
    expect(await observeRestart(context, 'web', before)).toMatchObject({ happened: 'Partly' });
    await jobs.host.units.start('web');
    expect(await observeRestart(context, 'web', before)).toMatchObject({ happened: 'Yes' });
    expect(await observeRestart(context, 'nginx', before)).toMatchObject({ code: 'UnitNotFound' });
  });

  it('fails when the service does not start', async () => {
    const jobs = await createJobHost();
    const context = await stepContext(jobs);
    jobs.host.units.behave(() => 'FailsToStart');
    await expect(restartOnce(context, 'web', await serviceProcess(context, 'web'))).rejects.toMatchObject({
      code: 'UnitFailed',
    });
  });
});
