from libc.stdint cimport int64_t

from ambergate_native.columns cimport ArrowArray
from ambergate_native.views cimport View


cdef int gather_view(const View* view, const int64_t* indices, int64_t count, bint missing,
                     ArrowArray* child) except -1 nogil

cdef object imported(ArrowArray* root, object importer, object schema)
