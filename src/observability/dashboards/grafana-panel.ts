/** Makes a panel of Grafana from its description. Pure. */
import { PanelBuilder as BarGaugeBuilder } from '@grafana/grafana-foundation-sdk/bargauge';
import {
  BarGaugeDisplayMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardLinkBuilder,
  type Panel as GrafanaPanel,
  MappingType,
  SpecialValueMatch,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import type { Panel, PanelQuery, Thresholds } from './panel.ts';

export const DATA_SOURCE_VARIABLE = 'datasource';
export const DATA_SOURCE = { type: 'prometheus', uid: `\${${DATA_SOURCE_VARIABLE}}` };

/** They have the same value in each line. */
const HIDDEN_COLUMNS = { Time: true, __name__: true, alertstate: true };

type AnyBuilder = StatBuilder | TimeSeriesBuilder | BarGaugeBuilder | TableBuilder;

const BUILDERS: Readonly<Record<Panel['form'], () => AnyBuilder>> = {
  Now: () =>
    new StatBuilder()
      .colorMode(BigValueColorMode.Background)
      .graphMode(BigValueGraphMode.None)
      .textMode(BigValueTextMode.Value)
      .reduceOptions(lastValue()),
  Trend: () =>
    new TimeSeriesBuilder()
      .min(0)
      .fillOpacity(10)
      .legend(
        new VizLegendOptionsBuilder()
          .showLegend(true)
          .displayMode(LegendDisplayMode.List)
          .placement(LegendPlacement.Bottom)
          .calcs([]),
      )
      .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi))
      .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed)),
  Bars: () =>
    new BarGaugeBuilder()
      .min(0)
      .displayMode(BarGaugeDisplayMode.Basic)
      .orientation(VizOrientation.Horizontal)
      .reduceOptions(lastValue()),
  Table: () =>
    new TableBuilder()
      .filterable(true)
      .withTransformation({ id: 'organize', options: { excludeByName: HIDDEN_COLUMNS } }),
};

export function grafanaPanel(
  panel: Panel,
  id: number,
  { width, height }: { readonly width: number; readonly height: number },
): { build(): GrafanaPanel } {
  const builder: AnyBuilder = BUILDERS[panel.form]()
    .id(id)
    .title(panel.title)
    .description(panel.description)
    .datasource(DATA_SOURCE)
    .span(width)
    .height(height)
    .unit(panel.unit)
    .mappings(mappingsOf(panel))
    .thresholds(thresholdsOf(panel.thresholds))
    .targets(panel.queries.map((query, index) => target(panel, query, index)));
  if (panel.seeUid !== undefined) builder.links([detailLink(panel.seeUid)]);
  return builder;
}

function lastValue(): ReduceDataOptionsBuilder {
  return new ReduceDataOptionsBuilder().calcs(['lastNotNull']);
}

const REF_IDS = 'ABCDEFGH';

/** Only lines over time need the samples of the whole time range. */
function target({ form }: Panel, { expr, legend }: PanelQuery, index: number): DataqueryBuilder {
  const query = new DataqueryBuilder().refId(REF_IDS.charAt(index)).datasource(DATA_SOURCE).expr(expr);
  if (legend !== undefined) query.legendFormat(legend);
  if (form === 'Trend') return query.range();
  return query.instant().format(form === 'Table' ? PromQueryFormat.Table : PromQueryFormat.TimeSeries);
}

function thresholdsOf([lowest, ...steps]: Thresholds): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: lowest }, ...steps.map(([value, color]) => ({ value, color }))]);
}

/** Grafana would paint a value that is missing in the color of the lowest one: unknown is not healthy. */
function mappingsOf({ words = {} }: Panel): ValueMapping[] {
  const options = Object.fromEntries(Object.entries(words).map(([value, text]) => [value, { text }]));
  const named: ValueMapping[] =
    Object.keys(options).length === 0 ? [] : [{ type: MappingType.ValueToText, options }];
  const result = { text: 'no data', color: 'purple' };
  return [
    ...named,
    { type: MappingType.SpecialValue, options: { match: SpecialValueMatch.NullAndNan, result } },
  ];
}

function detailLink(uid: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder('More').url(`/d/${uid}?\${__url_time_range}&\${__all_variables}`);
}
