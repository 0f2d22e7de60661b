/** docs/guides/maintenance.md: an event is reported, followed to its end, and another one canceled. */
import type { Act } from '../../support/page/follow.ts';
import { type Guide, machineOf } from './guide.ts';

const NAME = 'local-rack-7-n17';

export const maintenance: Guide = {
  path: 'docs/guides/maintenance.md',
  async before(reader) {
    await reader.run('export KUBECONFIG=$(kubenode local kubeconfig test --path)');
    await reader.run('mkdir -p ../events && cd ../events');
    await reader.run('kubenode controllers 2> controllers.log &');
    await reader.run(machineOf('n17'));
    const [event = ''] = reader.page.blocks('yaml');
    await reader.run(`cat > event.yaml <<'EOF'\n${event}EOF`);
  },
  expectations: [
    { at: 'kubenode maintenance list', prints: new RegExp(`${NAME} .*(?:Pending|Preparing)`) },
    { at: 'kubenode maintenance show', prints: /the power supply of rack 7 is replaced/ },
    { at: 'kubenode why node n17', prints: new RegExp(NAME) },
    { at: '"Executing"', after: hasPhase('Preparing|Pending') },
    { at: '"Done"', after: hasPhase('Done') },
    {
      at: '"Cancelled"',
      // Done is the end of an event: another one is canceled.
      before: async (reader) => {
        await reader.run(`kubectl delete kme ${NAME}`);
        await reader.run('kubectl apply -f event.yaml');
      },
      after: hasPhase('Done'),
    },
  ],
};

function hasPhase(phase: string): Act {
  return (reader) =>
    reader.shows(`kubectl get kme ${NAME} -o jsonpath='{.status.phase}'`, new RegExp(`^(?:${phase})$`));
}
