import type * as dashboard from '@grafana/grafana-foundation-sdk/dashboard'
import type * as prometheus from '@grafana/grafana-foundation-sdk/prometheus'
import type * as stat from '@grafana/grafana-foundation-sdk/stat'
import type * as table from '@grafana/grafana-foundation-sdk/table'
import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries'

/*
 * Grafana's classic dashboard model, with the types of Grafana's SDK. The SDK permits any value in
 * some properties of a panel, for example `options`. Here they have exact types.
 */

/** A type of the SDK in its JSON form: an enum member becomes its string. */
type Json<T> = 0 extends 1 & T
  ? T
  : T extends string
    ? `${T}`
    : T extends object
      ? { readonly [K in keyof T]: Json<T[K]> }
      : T

export type Query = Json<Omit<prometheus.Dataquery, '_implementsDataqueryVariant'>>
export type PanelOptions = {
  readonly stat: Json<stat.Options>
  readonly timeseries: Json<timeseries.Options>
  readonly table: Json<table.Options>
}
export type LineStyle = Json<timeseries.FieldConfig>
export type Threshold = Json<dashboard.Threshold>
export type Transformation = Json<dashboard.DataTransformerConfig>
export type Override = Json<dashboard.FieldConfigSource>['overrides'][number]
export type FieldDefaults = Json<Omit<dashboard.FieldConfig, 'custom'>> & { readonly custom?: LineStyle }

type Changed<T, U> = Omit<T, keyof U> & U
export type PanelModel = Changed<
  Json<dashboard.Panel>,
  {
    readonly type: keyof PanelOptions
    readonly targets: readonly Query[]
    readonly options: PanelOptions[keyof PanelOptions]
    readonly fieldConfig: { readonly defaults: FieldDefaults; readonly overrides: readonly Override[] }
  }
>
export type RowModel = Changed<Json<dashboard.RowPanel>, { readonly panels: readonly [] }>
export type Variable = Json<dashboard.VariableModel>
export type Link = Json<dashboard.DashboardLink>
export type Annotation = Json<Omit<dashboard.AnnotationQuery, 'target'>>
export type DashboardModel = Changed<
  Json<dashboard.Dashboard>,
  {
    readonly panels: readonly (PanelModel | RowModel)[]
    readonly annotations: { readonly list: readonly Annotation[] }
  }
>
