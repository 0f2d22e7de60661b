/** A rule that fails its own tests is refused, with file and line, before a cluster gets it. */
import { CliError, EXIT } from '../../../cli/errors.ts';
import { provenEverywhere, readPipeline } from '../fleet-state.ts';
import { notRefusedReason } from '../observed.ts';
import type { TourStep } from '../step.ts';

const RULE = 'rules/kernel-hang.ts';

export const badRuleStep: TourStep = {
  name: 'bad-rule',
  title: 'A bad rule is refused',
  explanation: [
    'The rule for a hanging kernel shall wait three minutes, which one of the tests inside it does not expect.',
    'kubenode rules test finds it, and sync refuses the commit: no cluster gets it.',
  ],
  async run(tour) {
    const { repository } = tour;
    tour.say(`${RULE}: for: '3s' becomes for: '3m'`);
    await repository.edit(RULE, (text) => text.replace("for: '3s'", "for: '3m'"));
    let bad: string;
    try {
      const output = await tour.show(['rules', 'test', repository.folder], [EXIT.failed]);
      if (!/kernel-hang\.ts:\d+/.test(output)) {
        throw new CliError('kubenode rules test names no line of the rule', { where: output });
      }
    } catch (error) {
      await repository.discard();
      throw error;
    }
    tour.say('$ git commit -am "Wait three minutes"');
    bad = await repository.commit('Wait three minutes');
    try {
      await tour.verify({
        what: 'sync refuses the commit, with file and line',
        withinSeconds: 60,
        lookAt: 'kubenode status',
        reason: async () => notRefusedReason(await readPipeline(tour), bad),
      });
      // A machine that an earlier step changed may not be well again yet.
      await tour.show(['status'], [EXIT.failed, EXIT.unhealthy]);
    } finally {
      tour.say('$ git revert --no-edit HEAD');
      bad = await repository.revert(bad);
    }
    await tour.verify(provenEverywhere(tour, bad));
  },
};
