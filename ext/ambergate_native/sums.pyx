# cython: language_level=3
"""Sums, means, variances of groups; see ``aggregation`` for what all accumulators share.

Sums of integers and decimals are exact; whether one fits its type is told when it is read. Sums of
floats are plain, in the order of rows. Only the sum of all rows (no groups) is made in eight lanes,
row ``i`` since the begin going to lane ``i mod 8``: a sum that does not depend on how rows come in
batches, and needs not wait for the addition before.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport sqrt
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

cimport cython

from ambergate_native.aggregation cimport (
    NO_VALUE, TOO_LARGE, VALUE, Outcome, Records, WideSum, count_at, load_int128, wide_add,
    wide_double, wide_fits_decimal, wide_fits_int64, wide_fits_uint64, wide_subtract,
)
from ambergate_native.columns cimport Kind
from ambergate_native.grouping cimport View
from ambergate_native.keys cimport is_valid

ctypedef fused Integer:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused Floating:
    float
    double

cdef enum Giving:
    AS_INT64, AS_UINT64, AS_DECIMAL, AS_MEAN, AS_FLOAT, AS_VARIANCE, AS_DEVIATION

cdef dict GIVING = {
    "int64": AS_INT64, "uint64": AS_UINT64, "decimal128": AS_DECIMAL, "mean": AS_MEAN,
    "float64": AS_FLOAT, "var": AS_VARIANCE, "std": AS_DEVIATION,
}


cdef Giving giving_of(str of, tuple fit) except *:
    if of not in fit:
        raise ValueError(f"gives {', '.join(fit)}, not {of!r}")
    return <Giving>GIVING[of]


cdef inline bint is_integer(Kind kind) noexcept nogil:
    return Kind.INT8 <= kind <= Kind.UINT64


cdef struct FloatSum:
    double total
    int64_t count


cdef struct Lanes:
    double totals[8]
    int64_t rows                         # taken so far; the next goes to lane rows mod 8


cdef void add_floats(const Floating* values, const View* view, const int64_t* ids, int64_t start,
                     int64_t stop, char* sums, int64_t stride) noexcept nogil:
    cdef int64_t row
    cdef FloatSum* total
    if view.validity == NULL:
        for row in range(start, stop):
            total = <FloatSum*>(sums + ids[row - start] * stride)
            total.total += values[row]
            total.count += 1
    else:
        for row in range(start, stop):
            if is_valid(view, row):
                total = <FloatSum*>(sums + ids[row - start] * stride)
                total.total += values[row]
                total.count += 1


cdef void add_to_lanes(const Floating* values, const View* view, int64_t start, int64_t stop,
                       FloatSum* total, Lanes* lanes) noexcept nogil:
    cdef int64_t row = start, lane, count = 0
    cdef double totals[8]
    if view.validity == NULL:
        while row < stop and lanes.rows & 7:
            lanes.totals[lanes.rows & 7] += values[row]
            lanes.rows += 1
            row += 1
        memcpy(totals, lanes.totals, sizeof(totals))
        while row + 8 <= stop:
            for lane in range(8):
                totals[lane] += values[row + lane]
            row += 8
            lanes.rows += 8
        memcpy(lanes.totals, totals, sizeof(totals))
        total.count += stop - start
    while row < stop:
        if is_valid(view, row):
            lanes.totals[lanes.rows & 7] += values[row]
            count += 1
        lanes.rows += 1
        row += 1
    if view.validity != NULL:
        total.count += count


@cython.final
cdef class FloatSums(Records):
    """Sums of float32 or float64 values, as float64, or their means.

    Parameters
    ----------
    of : "float64" or "mean"
    """

    cdef Lanes lanes
    cdef Giving giving

    def __cinit__(self, str of="float64"):
        self.giving = giving_of(of, ("float64", "mean"))
        self.record_bytes, self.width = sizeof(FloatSum), 8
        memset(&self.lanes, 0, sizeof(Lanes))

    cdef int check_column(self) except -1:
        if self.view.kind != Kind.FLOAT32 and self.view.kind != Kind.FLOAT64:
            raise TypeError("values are neither float32 nor float64")
        return 0

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        cdef char* sums = self.record(0)
        cdef int64_t stride = self.store.stride, row, at
        cdef View* view = &self.view
        cdef const float* narrow = <const float*>view.values + view.offset
        cdef const double* values = <const double*>view.values + view.offset
        if ids == NULL:
            if view.kind == Kind.FLOAT64:
                add_to_lanes(values, view, start, stop, <FloatSum*>sums, &self.lanes)
            else:
                add_to_lanes(narrow, view, start, stop, <FloatSum*>sums, &self.lanes)
        elif view.kind == Kind.FLOAT64:
            add_floats(values, view, ids, start, stop, sums, stride)
        else:
            add_floats(narrow, view, ids, start, stop, sums, stride)
        if self.weighted:
            for row in range(start, stop):
                if is_valid(view, row):
                    at = ids[row - start] * stride if ids != NULL else 0
                    (<FloatSum*>(sums + at)).count += count_at(&self.counts, row) - 1

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        cdef FloatSum total = (<FloatSum*>self.record(group))[0]
        cdef double* lane = self.lanes.totals
        if group == 0 and self.lanes.rows:
            total.total += ((lane[0] + lane[1]) + (lane[2] + lane[3])
                            + ((lane[4] + lane[5]) + (lane[6] + lane[7])))
        if total.count == 0:
            return NO_VALUE
        (<double*>out)[0] = total.total / total.count if self.giving == AS_MEAN else total.total
        return VALUE

    def truncate(self, int64_t groups):
        """Forget the groups from ``groups`` on."""
        Records.truncate(self, groups)
        if groups == 0:
            memset(&self.lanes, 0, sizeof(Lanes))

    def export(self):
        """All records, and the lanes, as bytes."""
        return Records.export(self) + PyBytes_FromStringAndSize(<char*>&self.lanes, sizeof(Lanes))

    def load(self, bytes records not None):
        """Take what ``export`` gave."""
        cdef int64_t size = len(records) - sizeof(Lanes)
        Records.load(self, records[:max(size, 0)])
        memcpy(&self.lanes, PyBytes_AS_STRING(records) + size, sizeof(Lanes))


cdef void add_integers(const Integer* values, const View* view, const int64_t* ids, int64_t start,
                       int64_t stop, char* sums, int64_t stride, bint subtract) noexcept nogil:
    cdef int64_t row
    cdef WideSum* total = <WideSum*>sums
    for row in range(start, stop):
        if is_valid(view, row):
            if ids != NULL:
                total = <WideSum*>(sums + ids[row - start] * stride)
            if subtract:
                wide_subtract(total, values[row])
                total.count -= 1
            else:
                wide_add(total, values[row])
                total.count += 1


cdef void change_sums(const View* view, const int64_t* ids, int64_t start, int64_t stop,
                      char* sums, int64_t stride, bint subtract) noexcept nogil:
    cdef const uint8_t* values = view.values + view.offset * view.width
    cdef int64_t row
    cdef WideSum* total = <WideSum*>sums
    if view.kind == Kind.INT64:
        add_integers(<const int64_t*>values, view, ids, start, stop, sums, stride, subtract)
    elif view.kind == Kind.INT32:
        add_integers(<const int32_t*>values, view, ids, start, stop, sums, stride, subtract)
    elif view.kind == Kind.INT16:
        add_integers(<const int16_t*>values, view, ids, start, stop, sums, stride, subtract)
    elif view.kind == Kind.INT8:
        add_integers(<const int8_t*>values, view, ids, start, stop, sums, stride, subtract)
    elif view.kind == Kind.UINT64:
        add_integers(<const uint64_t*>values, view, ids, start, stop, sums, stride, subtract)
    elif view.kind == Kind.UINT32:
        add_integers(<const uint32_t*>values, view, ids, start, stop, sums, stride, subtract)
    elif view.kind == Kind.UINT16:
        add_integers(<const uint16_t*>values, view, ids, start, stop, sums, stride, subtract)
    elif view.kind == Kind.UINT8:
        add_integers(values, view, ids, start, stop, sums, stride, subtract)
    else:
        for row in range(start, stop):
            if not is_valid(view, row):
                continue
            if ids != NULL:
                total = <WideSum*>(sums + ids[row - start] * stride)
            if view.kind == Kind.BOOL:
                if subtract:
                    wide_subtract(total, bit_of(view, row))
                else:
                    wide_add(total, bit_of(view, row))
            elif subtract:
                wide_subtract(total, load_int128(values + 16 * row))
            else:
                wide_add(total, load_int128(values + 16 * row))
            total.count += -1 if subtract else 1


cdef inline int64_t bit_of(const View* view, int64_t row) noexcept nogil:
    return (view.values[(view.offset + row) >> 3] >> ((view.offset + row) & 7)) & 1


@cython.final
cdef class WideSums(Records):
    """Exact sums of integers, booleans or decimals, or their means.

    Parameters
    ----------
    of : "int64", "uint64", "decimal128" or "mean"
    scale : digits after the point of the decimals; for means only
    """

    cdef Giving giving
    cdef double unit

    def __cinit__(self, str of="int64", int scale=0):
        self.giving = giving_of(of, ("int64", "uint64", "decimal128", "mean"))
        self.record_bytes = sizeof(WideSum)
        self.width = 16 if self.giving == AS_DECIMAL else 8
        self.unit = 10.0 ** scale

    cdef int check_column(self) except -1:
        if (not is_integer(self.view.kind) and self.view.kind != Kind.BOOL
                and self.view.kind != Kind.DECIMAL128):
            raise TypeError("values are no integers, booleans or decimals of 128 bits")
        return 0

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        cdef int64_t row, at, stride = self.store.stride
        cdef char* sums = self.record(0)
        change_sums(&self.view, ids, start, stop, sums, stride, False)
        if self.weighted:
            for row in range(start, stop):
                if is_valid(&self.view, row):
                    at = ids[row - start] * stride if ids != NULL else 0
                    (<WideSum*>(sums + at)).count += count_at(&self.counts, row) - 1

    cdef void take_back(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        change_sums(&self.view, ids, start, stop, self.record(0), self.store.stride, True)

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        cdef WideSum* total = <WideSum*>self.record(group)
        if total.count == 0:
            return NO_VALUE
        if self.giving == AS_MEAN:
            (<double*>out)[0] = wide_double(total) / total.count / self.unit
            return VALUE
        if not (wide_fits_int64(total) if self.giving == AS_INT64
                else wide_fits_uint64(total) if self.giving == AS_UINT64
                else wide_fits_decimal(total)):
            return TOO_LARGE
        memcpy(out, total, self.width)  # low, then middle; the lowest byte first
        return VALUE


cdef struct Moment:
    int64_t count
    double mean
    double squares                       # sum of squared distances from the mean


cdef inline double double_of(const View* view, int64_t row) noexcept nogil:
    cdef int64_t at = view.offset + row
    cdef const void* values = view.values
    if view.kind == Kind.FLOAT64:
        return (<const double*>values)[at]
    if view.kind == Kind.INT64:
        return <double>(<const int64_t*>values)[at]
    if view.kind == Kind.FLOAT32:
        return (<const float*>values)[at]
    if view.kind == Kind.INT32:
        return (<const int32_t*>values)[at]
    if view.kind == Kind.INT16:
        return (<const int16_t*>values)[at]
    if view.kind == Kind.INT8:
        return (<const int8_t*>values)[at]
    if view.kind == Kind.UINT64:
        return <double>(<const uint64_t*>values)[at]
    if view.kind == Kind.UINT32:
        return (<const uint32_t*>values)[at]
    if view.kind == Kind.UINT16:
        return (<const uint16_t*>values)[at]
    if view.kind == Kind.UINT8:
        return (<const uint8_t*>values)[at]
    if view.kind == Kind.DECIMAL128:
        return <double>load_int128(<const uint8_t*>values + 16 * at)
    return bit_of(view, row)


@cython.final
cdef class Moments(Records):
    """Sample variances (divided by n - 1), or their roots; null for fewer than two values.

    Source: Welford 1962, one pass without cancellation.

    Parameters
    ----------
    of : "var" or "std"
    scale : digits after the point, where the values are decimals
    """

    cdef Giving giving
    cdef double unit

    def __cinit__(self, str of="var", int scale=0):
        self.giving = giving_of(of, ("var", "std"))
        self.record_bytes, self.width = sizeof(Moment), 8
        self.unit = 10.0 ** scale

    cdef int check_column(self) except -1:
        if not Kind.BOOL <= self.view.kind <= Kind.DECIMAL128:
            raise TypeError("values are no numbers")
        return 0

    cdef void add(self, const int64_t* ids, int64_t start, int64_t stop) noexcept nogil:
        cdef int64_t row, group = 0
        cdef double value, before
        cdef View* view = &self.view
        cdef Moment* moment
        for row in range(start, stop):
            if is_valid(view, row):
                if ids != NULL:
                    group = ids[row - start]
                moment = <Moment*>self.record(group)
                value = double_of(view, row) / self.unit
                moment.count += 1
                before = value - moment.mean
                moment.mean += before / moment.count
                moment.squares += before * (value - moment.mean)

    cdef Outcome result(self, int64_t group, char* out) noexcept nogil:
        cdef Moment* moment = <Moment*>self.record(group)
        cdef double variance
        if moment.count < 2:
            return NO_VALUE
        variance = moment.squares / (moment.count - 1)
        (<double*>out)[0] = sqrt(variance) if self.giving == AS_DEVIATION else variance
        return VALUE
